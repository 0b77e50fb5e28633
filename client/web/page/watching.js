// Who may watch a match, and how much later they see it.

import { select } from './controls.js';
import { h, write } from './dom.js';
import { say } from './language.js';
import { spanWords } from './time.js';

/** @import { WatchedBy } from '../protocol.js' */
/** @import { Choice } from './choice.js' */

const MINUTE_MS = 60_000;
/** The server's bound is ten minutes. */
const DELAYS_MS = [0, MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];

export class Watching {
  element;
  #choice;
  #watch;
  #delay;
  #about = h('p', { class: 'note' });

  /** @param {Partial<Choice>} choice @param {(change: Partial<Choice>) => void} choose */
  constructor(choice, choose) {
    this.#choice = choice;
    this.#watch = select(
      say('watch.who'),
      [
        { value: '', title: say('watch.usual') },
        { value: 'anyone', title: say('watch.anyone') },
        { value: 'code', title: say('watch.code') },
        { value: 'nobody', title: say('watch.nobody') },
      ],
      choice.watch,
      (watch) => choose({ watch: /** @type {WatchedBy | ''} */ (watch) }),
    );
    this.#delay = select(
      say('watch.delay'),
      DELAYS_MS.map((ms) => ({
        value: String(ms),
        title: ms === 0 ? say('watch.now') : say('watch.later', { time: spanWords(ms, 'long') }),
      })),
      String(choice.delay ?? 0),
      (ms) => choose({ delay: Number(ms) }),
    );
    this.element = h(
      'details',
      { class: 'exhibition watched' },
      h('summary', {}, say('watch.title')),
      h('div', { class: 'row fields' }, this.#watch, this.#delay),
      this.#about,
    );
  }

  /** @param {{ isRated: boolean, isOfDays: boolean }} terms */
  show({ isRated, isOfDays }) {
    // What counts for ratings is for all to see.
    this.#watch.hidden = isRated;
    write(this.#about, say(isRated ? 'watch.rated' : 'watch.about'));
    this.#delay.hidden = isOfDays || this.#choice.watch === 'nobody';
  }

  /** What is asked for, of a match with these terms. @param {{ isRated: boolean, isOfDays: boolean }} terms */
  wish({ isRated, isOfDays }) {
    const { watch = '', delay = 0 } = this.#choice;
    const isSeen = isRated || watch !== 'nobody';
    return {
      ...(watch !== '' && !isRated ? { watch } : {}),
      ...(delay > 0 && !isOfDays && isSeen ? { delay_ms: delay } : {}),
    };
  }
}
