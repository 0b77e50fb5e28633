// What the server has said no to, and until when it will: so that a button tells it before one asks again.

import { say, sentences, soon } from './language.js';
import { secondsLeft } from './time.js';
import { refusalText } from './words.js';

/** @import { Refusal } from './connection.js' */
/** @import { Match } from './match.js' */

/**
 * @typedef {object} Known
 * @property {string} match
 * @property {number} ply the one at which it was said
 * @property {number} takebacks
 * @property {string} why
 * @property {number} [until] the ply from which on it may be asked again
 * @property {number} [at] the time from which on it may be, by `performance.now()`
 * @property {boolean} [passes] whether it holds for no longer than the match stands as it does
 * @property {string} state how the match stood
 */

/**
 * Why something is barred, and in short for how long.
 * @typedef {{ why: string, wait: string, ms?: number }} Bar
 */

export class Barred {
  /** @type {Map<string, Known>} */
  #known = new Map();

  /** @param {string} what @param {Match} match @param {Refusal} refusal */
  learn(what, match, refusal) {
    const { code, expected, retryAfterMs } = refusal;
    if (code !== 'too_soon' && code !== 'not_allowed') return;
    this.#keep(what, match, {
      why: refusalText(refusal),
      until: expected,
      at: retryAfterMs === undefined ? undefined : performance.now() + retryAfterMs,
      passes: code === 'too_soon' && expected === undefined && retryAfterMs === undefined,
    });
  }

  /** @param {string} what @param {Match} match @param {number} ply @param {string} why */
  untilPly(what, match, ply, why) {
    this.#keep(what, match, { why, until: ply });
  }

  /** @param {string} what @param {Match} match @param {number} ms @param {string} why */
  forMs(what, match, ms, why) {
    this.#keep(what, match, { why, at: performance.now() + ms });
  }

  /** @param {string} what */
  forget(what) {
    this.#known.delete(what);
  }

  /**
   * @param {string} what
   * @param {Match} match
   * @returns {Bar | null}
   */
  now(what, match) {
    const known = this.#known.get(what);
    if (!known || known.match !== match.match) return null;
    const { ply, takebacks, state, why, until, at, passes } = known;
    if (until !== undefined) {
      // What was said before a takeback may be otherwise after it.
      const left = takebacks === match.takebacks && match.ply >= ply ? until - match.ply : 0;
      if (left <= 0) return null;
      const again = say('barred.moves', { count: left });
      return { why: sentences(why, again), wait: say('barred.moves.short', { count: left }) };
    }
    if (at !== undefined) {
      const ms = at - performance.now();
      if (ms <= 0) return null;
      const again = say('barred.time', { when: soon(Math.ceil(ms / 1000)) });
      return { why: sentences(why, again), wait: secondsLeft(ms), ms };
    }
    return passes && state !== stateOf(match) ? null : { why, wait: '' };
  }

  /** @param {string} what @param {Match} match @param {Pick<Known, 'why' | 'until' | 'at' | 'passes'>} said */
  #keep(what, match, said) {
    const { match: id, ply, takebacks } = match;
    this.#known.set(what, { match: id, ply, takebacks, state: stateOf(match), ...said });
  }
}

/** What changes when somebody has done something. @param {Match} match */
const stateOf = ({ seq, rematch }) => JSON.stringify([seq, rematch]);
