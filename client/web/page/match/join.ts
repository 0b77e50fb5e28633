// The way into a match: its open seat is taken, or it is watched; and it is asked for again where the
// server cannot give it now.

import { RequestError } from '../net/connection.ts';
import { translate } from '../text/language.ts';
import { errorText } from '../text/phrases.ts';

import type { App } from '../app/main.ts';

/** When to ask again for a match that the server cannot give now and does not say when it can. */
const ASK_AGAIN_MS = [1000, 2000, 4000, 8000, 15_000];

/** Whoever cannot sit down may still watch. Where the server is only busy, the seat is asked for again. */
const WATCHED_ON = [
  'already_seated',
  'seat_taken',
  'match_ended',
  'not_allowed',
  'not_registered',
  'too_soon',
];

export class MatchJoiner {
  /** Why there is no match to be seen: for good, or until it is asked for again. */
  joinError = { why: '', isTemporary: false };
  #app;
  #code;
  /** Not even an open seat is to be taken. */
  #onlyWatch;
  /** One has seen the match, and may not any more. */
  #isShownOut = false;
  #refusals = 0;
  #isLeft = false;
  #askingAgain: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, code: string, onlyWatch: boolean) {
    this.#app = app;
    this.#code = code;
    this.#onlyWatch = onlyWatch;
  }

  /** Asks for the match no more. */
  cancel() {
    this.#isLeft = true;
    clearTimeout(this.#askingAgain);
  }

  /** Asks for what others may see of it, if they may. */
  onWatchEnded(match: string, arrived: () => void) {
    this.#isShownOut = true;
    void this.join(match, arrived);
  }

  onJoined() {
    this.joinError = { why: '', isTemporary: false };
    this.#refusals = 0;
  }

  /**
   * Takes the open seat, or watches; a seat that is ours already is kept.
   * @param known the match, where one has been in before
   */
  async join(known: string | undefined, arrived: () => void) {
    clearTimeout(this.#askingAgain);
    try {
      if (known !== undefined) await this.#app.connection.request({ type: 'watch', match: known });
      else if (this.#onlyWatch)
        await this.#app.connection.request({ type: 'watch', match: this.#code });
      else await this.#joinOrWatch({ match: this.#code });
      arrived();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // The next welcome tries again.
      if (error.code !== 'lost') this.#refused(error, known, arrived);
    }
  }

  #refused(refusal: RequestError, known: string | undefined, arrived: () => void) {
    const { code, retryable, retryAfterMs } = refusal;
    if (this.#isLeft) return;
    const none = code === 'unknown_match';
    const gone = translate(this.#isShownOut ? 'room.players' : 'room.none');
    const why = none ? gone : errorText(refusal);
    this.joinError = { why, isTemporary: retryable };
    if (retryable) {
      const last = ASK_AGAIN_MS.length - 1;
      const after = retryAfterMs ?? ASK_AGAIN_MS[Math.min(this.#refusals, last)];
      this.#refusals += 1;
      this.#askingAgain = setTimeout(() => void this.join(known, arrived), after);
    }
    this.#app.update();
  }

  async #joinOrWatch(request: { match: string }) {
    try {
      await this.#app.connection.request({ type: 'join', ...request });
    } catch (error) {
      if (!(error instanceof RequestError) || !WATCHED_ON.includes(error.code)) throw error;
      // One that counts for ratings is played by accounts, which one may become.
      if (error.code === 'not_registered')
        this.#app.toast(errorText(error), { href: '/you', says: translate('name.about') });
      await this.#app.connection.request({ type: 'watch', ...request });
    }
  }
}
