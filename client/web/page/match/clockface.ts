// Renders the clock of a player bar.

import { clockDetailText, isTimeLow } from '../model/clocks.ts';
import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { formatTimeLeft } from '../text/time.ts';

import type { Clock } from '../net/protocol.ts';
import type { ClockReading } from '../model/clocks.ts';

export class ClockFace {
  #time = h('span', { class: 'time' });
  #detail = h('span', { class: 'beside' });
  element = h('div', { class: 'clock', role: 'timer', hidden: true }, this.#time, this.#detail);

  show(reading: ClockReading | null, clock: Clock | undefined, name: string, connected: boolean) {
    this.element.hidden = !reading || !clock;
    if (!reading || !clock) return;
    this.element.setAttribute('aria-label', translate('clock.of', { name }));
    setText(this.#time, formatTimeLeft(reading.left));
    setText(this.#detail, clockDetailText(reading, clock, connected));
    const { classList } = this.element;
    classList.toggle('on', reading.onTurn);
    classList.toggle('low', isTimeLow(reading));
    classList.toggle('stale', reading.onTurn && !connected);
  }
}
