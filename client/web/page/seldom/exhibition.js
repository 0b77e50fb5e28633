// Two bots that one watches.

import { checkbox, select } from '../controls.js';
import { fill, h } from '../dom.js';
import { say } from '../language.js';

/** @import { SeatWish } from '../../protocol.js' */
/** @import { Choice } from '../choice.js' */
/** @import { App } from '../main.js' */

const CALM_MS = 1000;
const PACES = [
  { ms: 300, title: say('bots.fast') },
  { ms: CALM_MS, title: say('bots.calm') },
  { ms: 3000, title: say('bots.slow') },
];

/**
 * @param {HTMLElement} place
 * @param {App} app
 * @param {Partial<Choice>} choice
 * @param {(change: Partial<Choice>) => void} choose
 */
export function drawExhibition(place, app, choice, choose) {
  if (!PACES.some(({ ms }) => ms === choice.pace)) choice.pace = CALM_MS;
  const bot = (/** @type {'one' | 'other'} */ which, /** @type {string} */ label) =>
    select(
      label,
      app.levels.map(({ level, title }) => ({ value: level, title })),
      choice[which],
      (level) => choose({ [which]: level }),
    );
  const watch = () => {
    const { game = '', one = '', other = '', pace = CALM_MS, thoughts = true } = choice;
    /** @type {SeatWish[]} */
    const seats = [{ bot: one }, { bot: other }];
    void app.enter({ type: 'create', game, seats, pace_ms: pace, thinking: thoughts });
  };
  fill(
    place,
    bot('one', say('bots.first')),
    bot('other', say('bots.second')),
    select(
      say('bots.pace'),
      PACES.map(({ ms, title }) => ({ value: String(ms), title })),
      String(choice.pace),
      (ms) => choose({ pace: Number(ms) }),
    ),
    checkbox(say('bots.thinking'), choice.thoughts !== false, (thoughts) => choose({ thoughts })),
    h('button', { type: 'button', onclick: watch }, say('bots.watch')),
  );
}
