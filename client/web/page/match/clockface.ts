// The clock in a player's strip.

import { clockDetailText, isTimeLow } from '../model/clocks.ts';
import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { formatTimeLeft } from '../text/time.ts';

import type { Clock } from '../net/protocol.ts';
import type { ClockReading } from '../model/clocks.ts';

export class ClockFace {
  #time = h('span', { class: 'time' });
  #beside = h('span', { class: 'beside' });
  element = h('div', { class: 'clock', role: 'timer', hidden: true }, this.#time, this.#beside);

  show(shown: ClockReading | null, clock: Clock | undefined, whose: string, connected: boolean) {
    this.element.hidden = !shown || !clock;
    if (!shown || !clock) return;
    this.element.setAttribute('aria-label', translate('clock.of', { name: whose }));
    setText(this.#time, formatTimeLeft(shown.left));
    setText(this.#beside, clockDetailText(shown, clock, connected));
    const { classList } = this.element;
    classList.toggle('on', shown.onTurn);
    classList.toggle('low', isTimeLow(shown));
    classList.toggle('stale', shown.onTurn && !connected);
  }
}
