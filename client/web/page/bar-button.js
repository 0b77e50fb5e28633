// A button that stays where it is, and tells why it does nothing when it does nothing.

import { h, write } from './dom.js';
import { icon } from './switches.js';

/** @import { App } from './main.js' */

/**
 * What a button may do now.
 * @typedef {object} Place
 * @property {boolean} [never] whether there is never anything to do here in this match
 * @property {string} [why] why it cannot be done now
 * @property {string} [wait] in short, for how long it cannot
 */

export class BarButton {
  element;
  #name;
  #label;
  #why = '';
  #text = h('span', { 'aria-hidden': true });

  /**
   * @param {App} app
   * @param {string} name what it does
   * @param {string} label what stands on it
   * @param {string} drawn
   * @param {() => void} does
   */
  constructor(app, name, label, drawn, does) {
    this.#name = name;
    this.#label = label;
    const onclick = () => (this.#why ? app.toast(this.#why) : does());
    this.element = h('button', { type: 'button', onclick }, icon(drawn), this.#text);
    this.call(name, label);
  }

  /** @param {string} name what it does @param {string} label what stands on it */
  call(name, label) {
    this.#name = name;
    this.#label = label;
    this.element.setAttribute('aria-label', name);
  }

  /** @param {Place} place */
  show({ never = false, why = '', wait = '' }) {
    this.#why = why;
    write(this.#text, wait || this.#label);
    this.element.hidden = never;
    this.element.setAttribute('aria-disabled', String(why !== ''));
    this.element.title = why || this.#name;
  }
}
