// A view that is loaded when it is wanted: what one seldom sees does not make the page slower to come.

import { fill, h } from './dom.js';
import { say } from './language.js';

/** @import { MatchEvent, Message, SaidTold } from '../protocol.js' */
/** @import { App, View } from './main.js' */
/** @import { Match } from './match.js' */

/** @template M what comes */
export class Later {
  /** @type {HTMLElement} */
  element = h('div', { class: 'later' }, h('p', { role: 'status' }, say('page.loading')));
  #app;
  /** @type {View | null} */
  #view = null;
  #isWelcomed = false;
  #isLeft = false;

  /**
   * @param {App} app
   * @param {Promise<M>} coming
   * @param {(part: M) => View} make
   */
  constructor(app, coming, make) {
    this.#app = app;
    void this.#come(coming, make);
  }

  get match() {
    return this.#view?.match;
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

  /** @param {Pick<Match, 'match' | 'code' | 'previous' | 'you'>} match */
  arrived(match) {
    this.#view?.arrived?.(match);
  }

  /** @param {Pick<Match, 'match'>} match */
  shows(match) {
    return this.#view?.shows?.(match) ?? false;
  }

  /** @param {string} match */
  shownOut(match) {
    this.#view?.shownOut?.(match);
  }

  /** @param {SaidTold} message */
  heard(message) {
    this.#view?.heard?.(message);
  }

  /** @param {Match} before @param {Match} after */
  changed(before, after) {
    this.#view?.changed?.(before, after);
  }

  /** @param {Match} after @param {MatchEvent} event */
  happened(after, event) {
    this.#view?.happened?.(after, event);
  }

  leave() {
    this.#isLeft = true;
    this.#view?.leave();
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
    if (this.#isLeft) return;
    const view = make(part);
    this.#view = view;
    this.element.replaceWith(view.element);
    this.element = view.element;
    if (this.#isWelcomed) view.welcomed();
    this.#app.update();
  }
}
