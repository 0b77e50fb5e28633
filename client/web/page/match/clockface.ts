// The clock in a player's strip.

import { besideTime, isLow } from '../model/clocks.ts';
import { h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { timeWords } from '../text/time.ts';

import type { Clock } from '../net/protocol.ts';
import type { Shown } from '../model/clocks.ts';

export class ClockFace {
  #time = h('span', { class: 'time' });
  #beside = h('span', { class: 'beside' });
  element = h('div', { class: 'clock', role: 'timer', hidden: true }, this.#time, this.#beside);

  show(shown: Shown | null, clock: Clock | undefined, whose: string, connected: boolean) {
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
