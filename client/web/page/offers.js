// Which open matches somebody we have played has opened for us. The protocol knows no rematch: it is
// found in the list, like any other, and told from other matches of the same host by what it must be.

/** @import { Listed, Matches, Snapshot } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

const PAGE = 100;
/** So many pages of the list are read at most: more open matches of one game hide an offer. */
const PAGES_MAX = 5;

export class Offers {
  #app;
  #opponent;
  /** Our seat in the match that has ended: the other one's in the next. */
  #seat;
  /** Matches that were there before the end, or are another's. @type {Set<string>} */
  #others = new Set();
  /** Matches that we have looked at and found to be theirs. @type {Set<string>} */
  #theirs = new Set();

  /**
   * @param {App} app
   * @param {string} opponent the id of a player
   * @param {number} seat
   */
  constructor(app, opponent, seat) {
    this.#app = app;
    this.#opponent = opponent;
    this.#seat = seat;
  }

  /** Notes what is no offer, because it is there while we still play. @param {Match} match */
  async ruleOut(match) {
    for (const listed of await this.#candidates(match)) this.#others.add(listed.match);
  }

  /**
   * An offer that is younger than this match.
   * @param {Pick<Match, 'match' | 'game'>} match
   * @returns {Promise<Listed | null>}
   */
  async since(match) {
    for (const listed of await this.#candidates(match)) {
      if (await this.#isTheirs(listed)) return listed;
    }
    return null;
  }

  /** @param {Pick<Match, 'match' | 'game'>} match */
  async #candidates(match) {
    const younger = await this.#youngerThan(match);
    return younger.filter(({ match: id, seats }) => {
      const theirs = seats[this.#seat];
      const ours = seats[1 - this.#seat];
      return (
        ours?.occupant === 'open' &&
        theirs?.occupant === 'player' &&
        theirs.player === this.#opponent &&
        !this.#others.has(id)
      );
    });
  }

  /**
   * The open matches of the same game that were created later: the list begins with the newest, and
   * continues behind any match, listed or not.
   * @param {Pick<Match, 'match' | 'game'>} match
   */
  async #youngerThan({ match, game }) {
    const older = await this.#list({ game, limit: 1, after: match });
    const end = older[0]?.match;
    /** @type {Listed[]} */
    const younger = [];
    for (let page = 0; page < PAGES_MAX; page++) {
      const after = younger.at(-1)?.match;
      const listed = await this.#list({ game, limit: PAGE, ...(after ? { after } : {}) });
      const at = listed.findIndex(({ match }) => match === end);
      younger.push(...(at < 0 ? listed : listed.slice(0, at)));
      if (at >= 0 || listed.length < PAGE) break;
    }
    return younger;
  }

  /** @param {{ game: string, limit: number, after?: string }} which */
  async #list(which) {
    /** @type {Matches} */
    const { matches } = await this.#app.connection.ask({ type: 'list', status: 'open', ...which });
    return matches;
  }

  /** The list does not tell whose a match is; its snapshot does. @param {Listed} listed */
  async #isTheirs({ match }) {
    if (this.#theirs.has(match)) return true;
    const { connection } = this.#app;
    // In one breath, so that nothing that is done here meanwhile comes between.
    const [snapshot] = /** @type {[Snapshot, unknown]} */ (
      await Promise.all([
        connection.ask({ type: 'watch', match }),
        connection.ask({ type: 'leave', match }),
      ])
    );
    if (snapshot.you === null && !this.#app.isAt(snapshot)) this.#app.matches.delete(match);
    const isTheirs = snapshot.host === this.#opponent;
    (isTheirs ? this.#theirs : this.#others).add(match);
    return isTheirs;
  }
}
