// What is seen of a view until it is loaded: what one seldom sees does not make the page slower to come.

import { fill, h } from './dom.js';
import { say } from './language.js';

/** @import { App, View } from './main.js' */

/** @template M what comes */
export class Later {
  element = h('div', { class: 'later' }, h('p', { role: 'status' }, say('page.loading')));
  #app;
  #isLeft = false;

  /**
   * @param {App} app
   * @param {Promise<M>} coming
   * @param {(part: M) => View} make
   * @param {string} [place] how the page is laid out for it
   */
  constructor(app, coming, make, place) {
    this.#app = app;
    if (place) this.element.classList.add(place);
    void this.#come(coming, make);
  }

  title() {
    return '';
  }

  update() {}

  welcomed() {}

  leave() {
    this.#isLeft = true;
  }

  /** @param {Promise<M>} coming @param {(part: M) => View} make */
  async #come(coming, make) {
    let part;
    try {
      part = await coming;
    } catch {
      fill(this.element, h('p', { role: 'alert' }, say('refusal.lost'), ' ', say('link.anew')));
      return;
    }
    if (!this.#isLeft) this.#app.come(make(part));
  }
}
