// What the server has said no to, and until when it will: so that a button tells it before one asks again.

import { say, sentences, soon } from '../text/language.ts';
import { secondsLeft } from '../text/time.ts';
import { refusalText } from '../text/phrases.ts';

import type { Refusal } from '../net/connection.ts';
import type { Match } from '../model/match.ts';

export interface Known {
  match: string;
  /** the one at which it was said */
  ply: number;
  takebacks: number;
  why: string;
  /** the ply from which on it may be asked again */
  until?: number;
  /** the time from which on it may be, by `performance.now()` */
  at?: number;
  /** whether it holds for no longer than the match stands as it does */
  passes?: boolean;
  /** how the match stood */
  state: string;
}

/** Why something is barred, and in short for how long. */
export interface Bar {
  why: string;
  wait: string;
  ms?: number;
}

export class Barred {
  #known: Map<string, Known> = new Map();

  learn(what: string, match: Match, refusal: Refusal) {
    const { code, expected, retryAfterMs } = refusal;
    if (code !== 'too_soon' && code !== 'not_allowed') return;
    this.#keep(what, match, {
      why: refusalText(refusal),
      until: expected,
      at: retryAfterMs === undefined ? undefined : performance.now() + retryAfterMs,
      passes: code === 'too_soon' && expected === undefined && retryAfterMs === undefined,
    });
  }

  untilPly(what: string, match: Match, ply: number, why: string) {
    this.#keep(what, match, { why, until: ply });
  }

  forMs(what: string, match: Match, ms: number, why: string) {
    this.#keep(what, match, { why, at: performance.now() + ms });
  }

  forget(what: string) {
    this.#known.delete(what);
  }

  now(what: string, match: Match): Bar | null {
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

  #keep(what: string, match: Match, said: Pick<Known, 'why' | 'until' | 'at' | 'passes'>) {
    const { match: id, ply, takebacks } = match;
    this.#known.set(what, { match: id, ply, takebacks, state: stateOf(match), ...said });
  }
}

/** What changes when somebody has done something. */
const stateOf = ({ seq, rematch }: Match) => JSON.stringify([seq, rematch]);
