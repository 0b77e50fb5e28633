// What the server has said no to, and until when it will: so that a button tells it before one asks again.

import { translate, joinSentences, formatSecondsFromNow } from '../text/language.ts';
import { formatSeconds } from '../text/time.ts';
import { errorText } from '../text/phrases.ts';

import type { RequestError } from '../net/connection.ts';
import type { Match } from '../model/match.ts';

export interface Cooldown {
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
export interface ActiveCooldown {
  why: string;
  wait: string;
  ms?: number;
}

export class Cooldowns {
  #known: Map<string, Cooldown> = new Map();

  setFromError(what: string, match: Match, refusal: RequestError) {
    const { code, expected, retryAfterMs } = refusal;
    if (code !== 'too_soon' && code !== 'not_allowed') return;
    this.#keep(what, match, {
      why: errorText(refusal),
      until: expected,
      at: retryAfterMs === undefined ? undefined : performance.now() + retryAfterMs,
      passes: code === 'too_soon' && expected === undefined && retryAfterMs === undefined,
    });
  }

  setUntilPly(what: string, match: Match, ply: number, why: string) {
    this.#keep(what, match, { why, until: ply });
  }

  setForMs(what: string, match: Match, ms: number, why: string) {
    this.#keep(what, match, { why, at: performance.now() + ms });
  }

  clear(what: string) {
    this.#known.delete(what);
  }

  get(what: string, match: Match): ActiveCooldown | null {
    const known = this.#known.get(what);
    if (!known || known.match !== match.match) return null;
    const { ply, takebacks, state, why, until, at, passes } = known;
    if (until !== undefined) {
      // What was said before a takeback may be otherwise after it.
      const left = takebacks === match.takebacks && match.ply >= ply ? until - match.ply : 0;
      if (left <= 0) return null;
      const again = translate('barred.moves', { count: left });
      return {
        why: joinSentences(why, again),
        wait: translate('barred.moves.short', { count: left }),
      };
    }
    if (at !== undefined) {
      const ms = at - performance.now();
      if (ms <= 0) return null;
      const again = translate('barred.time', { when: formatSecondsFromNow(Math.ceil(ms / 1000)) });
      return { why: joinSentences(why, again), wait: formatSeconds(ms), ms };
    }
    return passes && state !== stateOf(match) ? null : { why, wait: '' };
  }

  #keep(what: string, match: Match, said: Pick<Cooldown, 'why' | 'until' | 'at' | 'passes'>) {
    const { match: id, ply, takebacks } = match;
    this.#known.set(what, { match: id, ply, takebacks, state: stateOf(match), ...said });
  }
}

/** What changes when somebody has done something. */
const stateOf = ({ seq, rematch }: Match) => JSON.stringify([seq, rematch]);
