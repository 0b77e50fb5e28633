// The clock in a player's strip.

import { besideTime, isLow } from './clocks.js';
import { h, write } from './dom.js';
import { say } from './language.js';
import { timeWords } from './time.js';

/** @import { Clock } from '../protocol.js' */
/** @import { Shown } from './clocks.js' */

export class ClockFace {
  #time = h('span', { class: 'time' });
  #beside = h('span', { class: 'beside' });
  element = h('div', { class: 'clock', role: 'timer', hidden: true }, this.#time, this.#beside);

  /**
   * @param {Shown | null} shown
   * @param {Clock | undefined} clock
   * @param {string} whose
   * @param {boolean} connected
   */
  show(shown, clock, whose, connected) {
    this.element.hidden = !shown || !clock;
    if (!shown || !clock) return;
    this.element.setAttribute('aria-label', say('clock.of', { name: whose }));
    write(this.#time, timeWords(shown.left));
    write(this.#beside, besideTime(shown, clock, connected));
    const { classList } = this.element;
    classList.toggle('on', shown.onTurn);
    classList.toggle('low', isLow(shown));
    classList.toggle('stale', shown.onTurn && !connected);
  }
}
