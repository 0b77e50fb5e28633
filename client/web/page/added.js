// A device has become ours: told wherever one is, until one knows of it. If it was somebody else, it is logged
// out at once.

import { fill, h } from './dom.js';
import { markKept } from './keeping.js';
import { parts, say } from './language.js';
import { come } from './wanted.js';

/** @import { Message, SessionAdded } from '../protocol.js' */
/** @import { App } from './main.js' */

export class Added {
  #app;
  #place;
  /** Those that one has not answered for, the oldest first. @type {SessionAdded[]} */
  #told = [];

  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.#app = app;
    this.#place = place;
  }

  /** @param {Message} message */
  hear(message) {
    if (message.type !== 'session_added') return;
    markKept(this.#app);
    this.#told.push(message);
    if (this.#told.length === 1) this.#draw();
  }

  /** We may be somebody else now, whose devices they are not. */
  forget() {
    this.#told = [];
    this.#draw();
  }

  #draw() {
    const hadFocus = this.#place.contains(document.activeElement);
    const [first] = this.#told;
    fill(this.#place, first && this.#card(first));
    if (hadFocus) (this.#place.querySelector('button') ?? document.getElementById('main'))?.focus();
  }

  /** @param {SessionAdded} added */
  #card({ session, label }) {
    return h(
      'div',
      { class: 'challenge' },
      h(
        'div',
        { class: 'who' },
        h('p', { class: 'names' }, ...parts('added.device', { label: h('bdi', {}, label) })),
        h('p', { class: 'about' }, say('added.about')),
      ),
      h(
        'button',
        { type: 'button', class: 'primary', onclick: () => this.#next() },
        say('added.mine'),
      ),
      h('button', { type: 'button', onclick: () => void this.end(session) }, say('devices.end')),
    );
  }

  #next() {
    this.#told.shift();
    this.#draw();
  }

  /**
   * Logs a device out; it need not be one that is told of.
   * @param {string} session its id, or `others`
   * @returns {Promise<boolean>} whether that was done
   */
  async end(session) {
    const seldom = await come(this.#app);
    if (!(await seldom?.proven(this.#app, { type: 'end_session', session }))) return false;
    this.#app.toast(say('devices.ended'));
    this.#told = this.#told.filter((added) => session !== 'others' && added.session !== session);
    this.#draw();
    return true;
  }
}
