// The same two once more, with sides swapped. A bot comes at once. With a person it takes both: who
// asks first opens a match, and the other's page finds it in the list and offers to join.

import { BOT_PACE_MS, recallChoice } from './choice.js';
import { Refusal } from './connection.js';
import { Offers } from './offers.js';
import { isGone } from './words.js';

/** @import { Listed, SeatWish, Snapshot } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

const LOOK_EVERY_MS = 2000;
/** While the match goes on one only notes what else the other has opened. */
const GLANCE_EVERY_MS = 20_000;
/** When both ask at about the same time, each opens a match before the other's can be seen. */
const MEET_MS = 10_000;
const MEET_EVERY_MS = 1000;

export class Rematch {
  /** The match that the other one has opened for us. @type {Listed | null} */
  offer = null;
  #app;
  #match;
  #changed;
  /** @type {Offers | null} */
  #offers = null;
  #isStarting = false;
  #isStopped = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {App} app
   * @param {Match} match
   * @param {() => void} changed there is an offer, or none any more
   */
  constructor(app, match, changed) {
    this.#app = app;
    this.#match = match;
    this.#changed = changed;
    const { you } = match;
    const other = this.#other();
    if (you !== null && other?.occupant === 'player') {
      this.#offers = new Offers(app, other.player, you);
      this.#lookIn(match.status === 'ended' ? LOOK_EVERY_MS : 0);
    }
  }

  /** Keeps up with the match. @param {Match} match */
  follow(match) {
    const ends = match.status === 'ended' && this.#match.status !== 'ended';
    this.#match = match;
    if (ends && this.#offers) this.#lookIn(LOOK_EVERY_MS);
  }

  stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Whether there is nobody to ask: the other one has closed the page. */
  get isAlone() {
    const other = this.#other();
    return other !== undefined && isGone(other);
  }

  /** Plays again, or asks the other to. */
  async start() {
    if (this.#isStarting) return;
    this.#isStarting = true;
    // It may have come since the last look.
    if (!this.offer) await this.#look();
    if (this.offer) await this.#join(this.offer);
    else await this.#open();
    this.#isStarting = false;
  }

  async #open() {
    const { game } = this.#match;
    const mine = await this.#app.enter({
      type: 'create',
      game,
      seats: this.#swapped(),
      pace_ms: this.#pace(),
    });
    if (!mine || !this.#offers) return;
    const other = this.#other();
    if (other?.occupant === 'player' && other.connected) {
      this.#app.invited.set(mine.match, other.name);
      this.#app.update();
    }
    void this.#meet(mine, this.#offers);
  }

  /** Who sat opposite, if we sat there. */
  #other() {
    const { seats, you } = this.#match;
    return you === null ? undefined : seats[1 - you];
  }

  /** @returns {SeatWish[]} */
  #swapped() {
    const { seats, you } = this.#match;
    return seats
      .map((seat, number) =>
        number === you
          ? 'me'
          : seat.occupant === 'bot'
            ? { bot: seat.level }
            : /** @type {const} */ ('open'),
      )
      .reverse();
  }

  /** Two bots are watched at the pace that was chosen for them. */
  #pace() {
    return (this.#match.you === null && recallChoice().pace) || BOT_PACE_MS;
  }

  /** @param {Listed} offer */
  async #join(offer) {
    const seat = this.#match.you === null ? 0 : 1 - this.#match.you;
    const joined = await this.#app.enter({ type: 'join', match: offer.match, seat });
    if (!joined) this.#offered(null);
    return joined;
  }

  /**
   * Of two matches that wait for each other the later one is played: whoever opened the earlier sees
   * the other appear, and knows that it comes in answer.
   * @param {Snapshot} mine
   * @param {Offers} offers
   */
  async #meet(mine, offers) {
    const waits = () =>
      this.#app.isAt(mine) && this.#app.matches.get(mine.match)?.status === 'open';
    for (const until = performance.now() + MEET_MS; performance.now() < until;) {
      await new Promise((resolve) => setTimeout(resolve, MEET_EVERY_MS));
      if (!waits()) return;
      const theirs = await offers.since(mine).catch(unlessRefused);
      if (theirs && waits()) {
        if (await this.#join(theirs)) void this.#app.ask({ type: 'leave', match: mine.match });
        return;
      }
    }
  }

  /** @param {number} after */
  #lookIn(after) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      if (!document.hidden) await this.#look();
      const ended = this.#match.status === 'ended';
      if (!this.#isStopped) this.#lookIn(ended ? LOOK_EVERY_MS : GLANCE_EVERY_MS);
    }, after);
  }

  async #look() {
    const offers = this.#offers;
    if (!offers) return;
    const match = this.#match;
    if (match.status === 'ended') {
      const offer = await offers.since(match).catch(unlessRefused);
      // What could not be asked is asked again in a moment.
      if (offer !== undefined) this.#offered(offer);
      // Who is there is told no more once a match has ended; a fresh snapshot of it does.
      await this.#app.connection.ask({ type: 'watch', match: match.match }).catch(unlessRefused);
    } else {
      await offers.ruleOut(match).catch(unlessRefused);
    }
  }

  /** @param {Listed | null} offer */
  #offered(offer) {
    const isOther = offer?.match !== this.offer?.match;
    this.offer = offer;
    if (isOther && !this.#isStopped) this.#changed();
  }
}

/** @param {unknown} error @returns {undefined} */
function unlessRefused(error) {
  if (!(error instanceof Refusal)) throw error;
}
