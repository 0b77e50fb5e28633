// A view whose module is loaded when it is wanted: what one seldom sees does not make the page slower to come.

import { fill, h } from './dom.js';
import { say } from './language.js';
import { wanted } from './wanted.js';

/** @import { Message } from '../protocol.js' */
/** @import { App, View } from './main.js' */

/** @template M the module */
export class Later {
  element = h('div', { class: 'later' }, h('p', { role: 'status' }, say('page.loading')));
  #app;
  /** @type {View | null} */
  #view = null;
  #isWelcomed = false;
  #isLeft = false;

  /**
   * @param {App} app
   * @param {Promise<M>} module
   * @param {(module: M) => View} make
   */
  constructor(app, module, make) {
    this.#app = app;
    void this.#come(module, make);
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

  /** @param {Promise<M>} coming @param {(module: M) => View} make */
  async #come(coming, make) {
    let module;
    try {
      module = await wanted(coming);
    } catch {
      fill(this.element, h('p', { role: 'alert' }, say('refusal.lost'), ' ', say('link.anew')));
      return;
    }
    if (this.#isLeft) return;
    const view = make(module);
    this.#view = view;
    fill(this.element, view.element);
    if (this.#isWelcomed) view.welcomed();
    this.#app.update();
  }
}
