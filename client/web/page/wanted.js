// What is seldom wanted, and comes then: modules, and the words and styles that these have in common. So the page
// is not slower to come for everybody else.

import { h } from './dom.js';
import { learn, say } from './language.js';

/** @import { App } from './main.js' */

const STYLES = ['./you/you.css', './people/people.css', './seldom/rules.css'];

/** @type {Promise<unknown> | null} */
let ready = null;

/**
 * Loads it, once, and with it a module. What has failed is tried again by the next that wants it.
 * @template M
 * @param {Promise<M>} module
 * @returns {Promise<M>}
 */
export async function wanted(module) {
  ready ??= Promise.all([learn(), ...STYLES.map(dress)]).catch((error) => {
    ready = null;
    throw error;
  });
  const [loaded] = await Promise.all([module, ready]);
  return loaded;
}

/**
 * The same, for somebody who waits for it.
 * @template M
 * @param {App} app
 * @param {Promise<M>} module
 * @returns {Promise<M | null>} `null` if it does not come, which is told
 */
export async function come(app, module) {
  try {
    return await wanted(module);
  } catch {
    app.toast(say('refusal.lost'));
    return null;
  }
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
