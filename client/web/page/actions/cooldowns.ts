// Remembers until when the server rejects an action, so that its button can show the reason and the
// wait.

import { translate, joinSentences, formatSecondsFromNow } from '../text/language.ts';
import { formatSeconds } from '../text/time.ts';
import { errorText } from '../text/phrases.ts';

import type { RequestError } from '../net/connection.ts';
import type { Match } from '../model/match.ts';

export interface Cooldown {
  match: string;
  /** the ply at which the cooldown began */
  ply: number;
  takebacks: number;
  why: string;
  /** the ply at which the action is allowed again */
  until?: number;
  /** the time at which the action is allowed again, by `performance.now()` */
  at?: number;
  /** whether the cooldown ends when the match state changes */
  passes?: boolean;
  /** the match state when the cooldown began */
  state: string;
}

/** Reason and remaining wait of an action in cooldown. */
export interface ActiveCooldown {
  why: string;
  wait: string;
  ms?: number;
}

export class Cooldowns {
  #cooldowns = new Map<string, Cooldown>();

  setFromError(action: string, match: Match, error: RequestError) {
    const { code, expected, retryAfterMs } = error;
    if (code !== 'too_soon' && code !== 'not_allowed') return;
    this.#set(action, match, {
      why: errorText(error),
      until: expected,
      at: retryAfterMs === undefined ? undefined : performance.now() + retryAfterMs,
      passes: code === 'too_soon' && expected === undefined && retryAfterMs === undefined,
    });
  }

  setUntilPly(action: string, match: Match, ply: number, why: string) {
    this.#set(action, match, { why, until: ply });
  }

  setForMs(action: string, match: Match, ms: number, why: string) {
    this.#set(action, match, { why, at: performance.now() + ms });
  }

  clear(action: string) {
    this.#cooldowns.delete(action);
  }

  get(action: string, match: Match): ActiveCooldown | null {
    const cooldown = this.#cooldowns.get(action);
    if (!cooldown || cooldown.match !== match.match) return null;
    const { ply, takebacks, state, why, until, at, passes } = cooldown;
    if (until !== undefined) {
      // A takeback ends the cooldown.
      const pliesLeft = takebacks === match.takebacks && match.ply >= ply ? until - match.ply : 0;
      if (pliesLeft <= 0) return null;
      const waitText = translate('barred.moves', { count: pliesLeft });
      return {
        why: joinSentences(why, waitText),
        wait: translate('barred.moves.short', { count: pliesLeft }),
      };
    }
    if (at !== undefined) {
      const ms = at - performance.now();
      if (ms <= 0) return null;
      const waitText = translate('barred.time', {
        when: formatSecondsFromNow(Math.ceil(ms / 1000)),
      });
      return { why: joinSentences(why, waitText), wait: formatSeconds(ms), ms };
    }
    return passes && state !== stateKey(match) ? null : { why, wait: '' };
  }

  #set(action: string, match: Match, details: Pick<Cooldown, 'why' | 'until' | 'at' | 'passes'>) {
    const { match: id, ply, takebacks } = match;
    this.#cooldowns.set(action, { match: id, ply, takebacks, state: stateKey(match), ...details });
  }
}

/** Changes with every event of the match and every rematch offer. */
const stateKey = ({ seq, rematch }: Match) => JSON.stringify([seq, rematch]);
