// The same two once more, with sides swapped. A bot comes at once. With a person it takes both: who
// asks first opens a match, and the other's page finds it in the list by its host and joins.

import { BOT_PACE_MS } from './choice.js';

/** @import { Listed, Matches, SeatWish, Snapshot } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

const LOOK_EVERY_MS = 2000;
/** When both ask in the same instant, each opens a match before the other's can be seen. */
const BOTH_MS = 1500;

export class Rematch {
  /** The match that the other one has opened for us. @type {Listed | null} */
  offer = null;
  #app;
  #match;
  #found;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {App} app
   * @param {Match} match the match that has ended
   * @param {() => void} found there is an offer
   */
  constructor(app, match, found) {
    this.#app = app;
    this.#match = match;
    this.#found = found;
    if (this.#opponent) this.#timer = setTimeout(() => void this.#watch(), LOOK_EVERY_MS);
  }

  stop() {
    clearTimeout(this.#timer);
  }

  /** The person we played, if it was one. */
  get #opponent() {
    const { seats, you } = this.#match;
    const other = you === null ? undefined : seats[1 - you];
    return other?.occupant === 'player' ? other.player : null;
  }

  /** Plays again, or asks the other to. */
  async start() {
    if (this.#opponent) this.offer = await this.#look();
    if (this.offer) {
      await this.#app.enter({ type: 'join', match: this.offer.match });
      return;
    }
    const { game, seats, you } = this.#match;
    /** @type {SeatWish[]} */
    const swapped = seats
      .map((seat, number) =>
        number === you
          ? 'me'
          : seat.occupant === 'bot'
            ? { bot: seat.level }
            : /** @type {const} */ ('open'),
      )
      .reverse();
    const mine = await this.#app.enter({
      type: 'create',
      game,
      seats: swapped,
      pace_ms: BOT_PACE_MS,
    });
    if (mine && this.#opponent) setTimeout(() => void this.#meet(mine), BOTH_MS);
  }

  /** Of two matches that wait for each other, the one with the lower id is played. @param {Snapshot} mine */
  async #meet(mine) {
    const theirs = await this.#look();
    const waits = this.#app.matches.get(mine.match)?.status === 'open';
    if (!theirs || !waits || theirs.match > mine.match) return;
    if (await this.#app.ask({ type: 'leave', match: mine.match })) {
      await this.#app.enter({ type: 'join', match: theirs.match });
    }
  }

  async #watch() {
    this.offer = await this.#look();
    if (this.offer) this.#found();
    else this.#timer = setTimeout(() => void this.#watch(), LOOK_EVERY_MS);
  }

  /** @returns {Promise<Listed | null>} */
  async #look() {
    try {
      const { game } = this.#match;
      /** @type {Matches} */
      const { matches } = await this.#app.connection.ask({
        type: 'list',
        game,
        status: 'open',
        limit: 100,
      });
      const theirs = matches.find(({ seats }) =>
        seats.some((seat) => seat.occupant === 'player' && seat.player === this.#opponent),
      );
      return theirs ?? null;
    } catch {
      // There is another look, or a match of our own.
      return null;
    }
  }
}
