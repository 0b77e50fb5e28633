// Loads the modules, texts and styles that most visits do not need, when one of them is first used.

import { h } from '../ui/dom.ts';
import { loadLazyTexts, translate } from '../text/language.ts';

import type { App } from './main.ts';
export type LazyBundle = typeof import('./lazy-bundle.ts');

let loading: Promise<LazyBundle> | null = null;

/** Loads the bundle once. After a failure the next call tries again. */
export async function loadLazyBundle() {
  loading ??= load().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load(): Promise<LazyBundle> {
  const href = new URL('lazy.js', import.meta.url).href;
  document.head.append(h('link', { rel: 'modulepreload', href }));
  await Promise.all([loadLazyTexts(), loadStyles()]);
  // Its modules translate texts when they are evaluated.
  return import('./lazy-bundle.ts');
}

/** Loads the bundle. If that fails, shows a toast and returns `null`. */
export async function tryLoadLazyBundle(app: App): Promise<LazyBundle | null> {
  try {
    return await loadLazyBundle();
  } catch {
    app.toast(translate('refusal.lost'));
    return null;
  }
}

function loadStyles() {
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
