// What the views that few open have in common, words and styles: it is loaded with the first of them, so that
// the page is not slower to come for everybody else.

import { h } from './dom.js';
import { learn } from './language.js';

const STYLES = ['./you/you.css', './people/people.css'];

/** @type {Promise<unknown> | null} */
let ready = null;

/** Loads it, once. What has failed is tried again by the next that wants it. */
export function wanted() {
  ready ??= Promise.all([learn(), ...STYLES.map(dress)]).catch((error) => {
    ready = null;
    throw error;
  });
  return ready;
}

/** @param {string} styles */
function dress(styles) {
  const link = h('link', { rel: 'stylesheet', href: new URL(styles, import.meta.url).href });
  return new Promise((resolve, reject) => {
    link.addEventListener('load', resolve);
    link.addEventListener('error', () => {
      link.remove();
      reject(new Error(styles));
    });
    document.head.append(link);
  });
}
