// The placeholder of a view whose module is being loaded.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { App, View } from './main.ts';

export class LazyView<Module> {
  element = h('div', { class: 'later' }, h('p', { role: 'status' }, translate('page.loading')));
  #app;
  #isUnmounted = false;

  /** @param layout CSS class of the view's layout */
  constructor(app: App, module: Promise<Module>, make: (loaded: Module) => View, layout?: string) {
    this.#app = app;
    if (layout) this.element.classList.add(layout);
    void this.#load(module, make);
  }

  title() {
    return '';
  }

  unmount() {
    this.#isUnmounted = true;
  }

  async #load(module: Promise<Module>, make: (loaded: Module) => View) {
    let loaded;
    try {
      loaded = await module;
    } catch {
      replaceChildren(
        this.element,
        h('p', { role: 'alert' }, translate('refusal.lost'), ' ', translate('link.anew')),
      );
      return;
    }
    if (!this.#isUnmounted) this.#app.show(make(loaded));
  }
}
