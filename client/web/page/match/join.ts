// Joins a match: takes the open seat or watches, and retries after temporary errors.

import { RequestError } from '../net/connection.ts';
import { translate } from '../text/language.ts';
import { errorText } from '../text/phrases.ts';

import type { App } from '../app/main.ts';

/** Delays between retries if the server's error names none. */
const RETRY_DELAYS_MS = [1000, 2000, 4000, 8000, 15_000];

/** Errors of a join request that still allow watching the match. */
const WATCHABLE_ERRORS = [
  'already_seated',
  'seat_taken',
  'match_ended',
  'not_allowed',
  'not_registered',
  'too_soon',
];

export class MatchJoiner {
  /** Why the match cannot be shown, and whether a retry is scheduled. */
  joinError = { why: '', isTemporary: false };
  #app;
  #code;
  #watchOnly;
  /** Whether the server has stopped sending the match to this spectator. */
  #wasExcluded = false;
  #retries = 0;
  #isCancelled = false;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, code: string, watchOnly: boolean) {
    this.#app = app;
    this.#code = code;
    this.#watchOnly = watchOnly;
  }

  cancel() {
    this.#isCancelled = true;
    clearTimeout(this.#retryTimer);
  }

  /** Asks for the match again, in the form that spectators may see. */
  onWatchEnded(match: string, onArrived: () => void) {
    this.#wasExcluded = true;
    void this.join(match, onArrived);
  }

  onJoined() {
    this.joinError = { why: '', isTemporary: false };
    this.#retries = 0;
  }

  /**
   * Takes the open seat or watches the match.
   * @param knownId the id of the match if the player has joined it before
   */
  async join(knownId: string | undefined, onArrived: () => void) {
    clearTimeout(this.#retryTimer);
    try {
      if (knownId !== undefined)
        await this.#app.connection.request({ type: 'watch', match: knownId });
      else if (this.#watchOnly)
        await this.#app.connection.request({ type: 'watch', match: this.#code });
      else await this.#joinOrWatch(this.#code);
      onArrived();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // The page joins again after the next `welcome` message.
      if (error.code !== 'lost') this.#onError(error, knownId, onArrived);
    }
  }

  #onError(error: RequestError, knownId: string | undefined, onArrived: () => void) {
    const { code, retryable, retryAfterMs } = error;
    if (this.#isCancelled) return;
    const why =
      code === 'unknown_match'
        ? translate(this.#wasExcluded ? 'room.players' : 'room.none')
        : errorText(error);
    this.joinError = { why, isTemporary: retryable };
    if (retryable) {
      const delayMs =
        retryAfterMs ?? RETRY_DELAYS_MS[Math.min(this.#retries, RETRY_DELAYS_MS.length - 1)];
      this.#retries += 1;
      this.#retryTimer = setTimeout(() => void this.join(knownId, onArrived), delayMs);
    }
    this.#app.update();
  }

  async #joinOrWatch(match: string) {
    try {
      await this.#app.connection.request({ type: 'join', match });
    } catch (error) {
      if (!(error instanceof RequestError) || !WATCHABLE_ERRORS.includes(error.code)) throw error;
      // Only accounts can play rated matches: link to the page where a guest creates one.
      if (error.code === 'not_registered')
        this.#app.toast(errorText(error), { href: '/you', says: translate('name.about') });
      await this.#app.connection.request({ type: 'watch', match });
    }
  }
}
