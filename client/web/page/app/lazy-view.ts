// What is seen of a view until it is loaded: what one seldom sees does not make the page slower to come.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { App, View } from './main.ts';

/** what comes */
export class LazyView<M> {
  element = h('div', { class: 'later' }, h('p', { role: 'status' }, translate('page.loading')));
  #app;
  #isLeft = false;

  /** @param place how the page is laid out for it */
  constructor(app: App, coming: Promise<M>, make: (part: M) => View, place?: string) {
    this.#app = app;
    if (place) this.element.classList.add(place);
    void this.#come(coming, make);
  }

  title() {
    return '';
  }

  update() {}

  onWelcome() {}

  unmount() {
    this.#isLeft = true;
  }

  async #come(coming: Promise<M>, make: (part: M) => View) {
    let part;
    try {
      part = await coming;
    } catch {
      replaceChildren(
        this.element,
        h('p', { role: 'alert' }, translate('refusal.lost'), ' ', translate('link.anew')),
      );
      return;
    }
    if (!this.#isLeft) this.#app.show(make(part));
  }
}
