// What is seldom wanted, and comes then: modules, with the words and styles that these have in common. So the page
// is not slower to come for everybody else.

import { h } from '../ui/dom.ts';
import { loadLazyTexts, translate } from '../text/language.ts';

import type { App } from './main.ts';
export type LazyBundle = typeof import('./lazy-bundle.ts');

let coming: Promise<LazyBundle> | null = null;

/** Loads it, once. What has failed is tried again by the next that wants it. */
export async function loadLazyBundle() {
  coming ??= load().catch((error) => {
    coming = null;
    throw error;
  });
  return coming;
}

async function load(): Promise<LazyBundle> {
  const href = new URL('lazy.js', import.meta.url).href;
  document.head.append(h('link', { rel: 'modulepreload', href }));
  await Promise.all([loadLazyTexts(), dress()]);
  // It speaks as soon as it runs.
  return import('./lazy-bundle.ts');
}

/**
 * Loads what is seldom wanted for somebody who waits for it.
 * @returns `null` if it does not come, which is told
 */
export async function tryLoadLazyBundle(app: App): Promise<LazyBundle | null> {
  try {
    return await loadLazyBundle();
  } catch {
    app.toast(translate('refusal.lost'));
    return null;
  }
}

function dress() {
  const href = new URL('lazy.css', import.meta.url).href;
  const link = h('link', { rel: 'stylesheet', href });
  return new Promise((resolve, reject) => {
    link.addEventListener('load', resolve);
    link.addEventListener('error', () => {
      link.remove();
      reject(new Error(href));
    });
    document.head.append(link);
  });
}
