// What is chosen in the lobby. The last choice is remembered.

import { recallObject, remember } from './keep.js';

/** @import { Level } from '../protocol.js' */
/** @import { OwnClock } from './own-clock.js' */

/** The least time between two moves against a bot: one that answers in the same instant startles. */
export const BOT_PACE_MS = 500;

/**
 * @typedef {object} Choice
 * @property {string} game
 * @property {string} level
 * @property {'first' | 'second' | 'chance'} side
 * @property {string} clock empty for none, `own`, or one of the operator's, as JSON
 * @property {OwnClock} own the clock that was written down last
 * @property {string} standIn the level of the bot that plays on for whoever leaves; empty for none
 * @property {boolean} takeback whether moves may be taken back
 * @property {boolean} rated whether it counts for ratings, where it can
 * @property {import('../protocol.js').WatchedBy | ''} watch who may watch; empty for what is usual
 * @property {number} delay how much later whoever watches sees it, in milliseconds
 * @property {boolean} thinking whether one sees what the bot thinks that one plays
 * @property {boolean} thoughts whether one sees what two bots think
 * @property {string} one the first bot's level, where two bots play
 * @property {string} other the second bot's
 * @property {number} pace the least time between the moves of two bots, in milliseconds
 */

/** @returns {Partial<Choice>} */
export const recallChoice = () => recallObject('choice');

/**
 * The bot that is offered to whoever has chosen none: not the weakest, which loses to anybody.
 * @param {Level[]} levels from the weakest to the strongest
 */
export const firstLevel = (levels) => levels[Math.min(1, levels.length - 1)]?.level;

/** @param {Partial<Choice>} choice */
export const rememberChoice = (choice) => remember('choice', JSON.stringify(choice));
