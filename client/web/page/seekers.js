// The place in the lobby for those who look for an opponent. It is as large as it ever gets, so that nothing else moves
// when they come and go; they are drawn by what is loaded once there are any.

import { fill, h } from './dom.js';
import { say } from './language.js';
import { wanted } from './wanted.js';

/** @import { Seeker, Seekers } from '../protocol.js' */
/** @import { App } from './main.js' */

/** So many are shown at a time. The style leaves as much room. */
export const SLOTS = 3;

export class SeekersPlace {
  #app;
  #answer;
  #list = h('ul', { class: 'rows' });
  /** @type {{ show: (told: Seekers) => void } | null} */
  #slots = null;
  /** @type {Seekers} */
  #told = { type: 'seekers', total: 0, rows: [] };
  element;

  /** @param {App} app @param {(seeker: Seeker) => void} answer looks for the same */
  constructor(app, answer) {
    this.#app = app;
    this.#answer = answer;
    const heading = h('h2', { id: 'seekers-title', tabindex: -1 }, say('seekers.title'));
    const none = h('p', { class: 'none' }, say('seekers.none'));
    const free = Array.from({ length: SLOTS }, (_, at) =>
      h('li', { class: 'free', 'aria-hidden': at > 0 && 'true' }, at === 0 && none),
    );
    fill(this.#list, ...free);
    this.element = h(
      'section',
      { class: 'kind seekers', 'aria-labelledby': 'seekers-title' },
      heading,
      this.#list,
    );
  }

  /** @param {Seekers} told */
  async told(told) {
    this.#told = told;
    if (this.#slots === null) {
      if (told.rows.length === 0) return;
      let seldom;
      try {
        seldom = await wanted();
      } catch {
        // With the next news it is tried again.
        return;
      }
      this.#slots ??= new seldom.SeekersSlots(this.#app, this.element, this.#answer);
    }
    this.#slots.show(this.#told);
  }
}
