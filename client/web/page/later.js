// A view whose module is loaded when it is wanted: what one seldom sees does not make the page slower to come.

import { fill, h } from './dom.js';
import { say } from './language.js';

/** @import { Message } from '../protocol.js' */
/** @import { App, View } from './main.js' */

export class Later {
  element = h('div', { class: 'later' }, h('p', { role: 'status' }, say('page.loading')));
  #app;
  /** @type {View | null} */
  #view = null;
  #isWelcomed = false;
  #isLeft = false;

  /** @param {App} app @param {() => Promise<View>} load */
  constructor(app, load) {
    this.#app = app;
    void this.#come(load);
  }

  title() {
    return this.#view?.title() ?? '';
  }

  update() {
    this.#view?.update();
  }

  welcomed() {
    this.#isWelcomed = true;
    this.#view?.welcomed();
  }

  /** @param {Message} message */
  hear(message) {
    this.#view?.hear?.(message);
  }

  leave() {
    this.#isLeft = true;
    this.#view?.leave();
  }

  /** @param {() => Promise<View>} load */
  async #come(load) {
    let view;
    try {
      view = await load();
    } catch {
      fill(this.element, h('p', { role: 'alert' }, say('refusal.lost'), ' ', say('link.anew')));
      return;
    }
    if (this.#isLeft) return;
    this.#view = view;
    fill(this.element, view.element);
    if (this.#isWelcomed) view.welcomed();
    this.#app.update();
  }
}
