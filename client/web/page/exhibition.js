// Two bots that one watches.

import { select } from './controls.js';
import { h } from './dom.js';

/** @import { SeatWish } from '../protocol.js' */
/** @import { Choice } from './choice.js' */
/** @import { App } from './main.js' */

export const PACES = [
  { ms: 300, title: 'Fast' },
  { ms: 1000, title: 'Calm' },
  { ms: 3000, title: 'Slow' },
];

/**
 * @param {App} app
 * @param {Partial<Choice>} choice
 * @param {(change: Partial<Choice>) => void} choose
 */
export function exhibition(app, choice, choose) {
  const bot = (/** @type {'one' | 'other'} */ which, /** @type {string} */ label) =>
    select(
      label,
      app.levels.map(({ level, title }) => ({ value: level, title })),
      choice[which],
      (level) => choose({ [which]: level }),
    );
  const watch = () => {
    const { game = '', one = '', other = '', pace = 1000 } = choice;
    /** @type {SeatWish[]} */
    const seats = [{ bot: one }, { bot: other }];
    void app.enter({ type: 'create', game, seats, pace_ms: pace });
  };
  return h(
    'details',
    { class: 'exhibition' },
    h('summary', {}, 'Or watch two bots'),
    h(
      'div',
      { class: 'row fields' },
      bot('one', 'First'),
      bot('other', 'Second'),
      select(
        'Pace',
        PACES.map(({ ms, title }) => ({ value: String(ms), title })),
        String(choice.pace),
        (ms) => choose({ pace: Number(ms) }),
      ),
      h('button', { type: 'button', onclick: watch }, 'Watch them'),
    ),
  );
}
