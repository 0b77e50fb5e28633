// The two seats: who sits there, whose turn it is, who is gone, who has won.

import { ClockFace } from './clockface.js';
import { changesIn, clockOf } from './clocks.js';
import { fill, h, write } from './dom.js';
import { customsOf } from './games.js';
import { isGone } from './match.js';
import { iconOf, pieceIcon } from './piece.js';
import { Board } from './position.js';
import { play as sound } from './sounds.js';
import { icon } from './switches.js';
import { timeWords } from './time.js';
import { capital, occupant, points } from './words.js';

/** @import { Game, Seat } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */
/** @import { Shown } from './clocks.js' */
/** @import { Tally } from './games.js' */

/** Within the last so many milliseconds each second is heard by whose they are. */
const TICKS_MS = 10_000;

/** What is shorter is told in seconds. */
const SECONDS_MS = 100_000;

const ROBOT = 'M5 9h14v10H5zM12 5v4M12 5h.01M9 13.5v1M15 13.5v1M2.5 13v3M21.5 13v3';
const PERSON =
  'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20c.8-3.6 3.8-5.5 7.5-5.5s6.700 1.900 7.500 5.500';

export class Players {
  element = h('div', { class: 'players', role: 'group', 'aria-label': 'Players' });
  #app;
  #cards;
  /** @type {Match | null} */
  #match = null;
  /** The second of our own clock that was heard last. */
  #heard = Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {App} app @param {Game} game */
  constructor(app, game) {
    this.#app = app;
    const board = new Board(game, '');
    this.#cards = [0, 1].map((seat) => new Card(pieceIcon(board, seat)));
    fill(this.element, ...this.#cards.map(({ element }) => element));
  }

  /**
   * @param {Match} match
   * @param {number | null} turn whose turn it is, as far as one sees
   * @param {Board} board the one that is shown
   */
  show(match, turn, board) {
    this.#match = match;
    const tallies = match.status === 'open' ? null : customsOf(match.game).tally?.(board);
    this.#cards.forEach((card, number) => card.tally(board, tallies?.[number]));
    this.#cards.forEach((card, number) => {
      const seat = /** @type {Seat} */ (match.seats[number]);
      card.show(match, number, seat, occupant(seat, this.#app.levels), turn === number);
    });
    this.tick();
  }

  /** Counts no more. */
  leave() {
    clearTimeout(this.#timer);
    this.#match = null;
  }

  /** Shows the clocks, and counts down for those who are gone, until the next change of what is shown. */
  tick() {
    clearTimeout(this.#timer);
    const match = this.#match;
    if (!match) return;
    const waits = this.#cards.map((card, number) => {
      const away = this.#tickAway(match, card, number);
      return Math.min(away, this.#tickClock(match, card, number));
    });
    const wait = Math.min(...waits);
    if (wait !== Infinity) this.#timer = setTimeout(() => this.tick(), wait);
  }

  /**
   * @param {Match} match
   * @param {Card} card
   * @param {number} number
   * @returns {number} in how many milliseconds it changes
   */
  #tickClock(match, card, number) {
    const { link } = this.#app.connection;
    const shown = clockOf(match, number, performance.now());
    card.showClock(shown, match, link.state === 'open');
    if (!shown) return Infinity;
    if (match.you === number) this.#hear(shown.runs ? shown.left : Infinity);
    return changesIn(shown) ?? Infinity;
  }

  /** Lets our last seconds be heard. @param {number} left */
  #hear(left) {
    const second = Math.ceil(left / 1000);
    const isNext = left <= TICKS_MS && second < this.#heard;
    if (isNext && this.#heard !== Infinity) sound('tick');
    if (isNext && this.#heard * 1000 > TICKS_MS) {
      this.#app.announce(`You have ${second} seconds left.`);
    }
    this.#heard = second;
  }

  /**
   * @param {Match} match
   * @param {Card} card
   * @param {number} number
   * @returns {number} in how many milliseconds it changes
   */
  #tickAway(match, card, number) {
    const seat = match.seats[number];
    if (match.status === 'ended') {
      card.showAway(match.rematch?.here[number] === false ? 'has left' : '');
      return Infinity;
    }
    const gone = match.gone[number];
    if (!seat || !isGone(seat) || !gone) {
      card.showAway('');
      return Infinity;
    }
    const patience = this.#app.connection.welcome?.limits.abandon_after_ms ?? 0;
    const until = gone.until ?? (match.status === 'open' ? gone.since + patience : null);
    if (until === null) {
      card.showAway('away');
      return Infinity;
    }
    const left = Math.max(0, until - performance.now());
    const words = left < SECONDS_MS ? `${Math.ceil(left / 1000)} s` : timeWords(left);
    const then =
      match.status === 'running' && match.stand_in ? 'until a bot sits in' : 'to come back';
    card.showAway(`away, ${words} ${then}`);
    return left > 0 ? left % 1000 || 1000 : Infinity;
  }
}

class Card {
  #name = h('bdi', { class: 'player-name' });
  #kind = h('span', { class: 'kind-icon' });
  #points = h('span', { class: 'points', hidden: true });
  #about = h('span', { class: 'about' });
  #state = h('span', { class: 'state' });
  #away = h('span', { class: 'away' });
  #tally = h('p', { class: 'tally', hidden: true });
  #clock = new ClockFace();
  element;

  /** @param {Element} piece */
  constructor(piece) {
    this.element = h(
      'div',
      { class: 'player' },
      piece,
      h(
        'div',
        { class: 'who' },
        h('p', { class: 'names' }, this.#kind, this.#name, this.#points),
        h('p', {}, this.#about, this.#away),
        this.#tally,
      ),
      this.#state,
      this.#clock.element,
    );
  }

  /**
   * @param {Match} match
   * @param {number} number
   * @param {Seat} seat
   * @param {string} name
   * @param {boolean} onTurn
   */
  show(match, number, seat, name, onTurn) {
    const you = match.you === number;
    write(this.#name, name);
    const { series } = match;
    this.#points.hidden = !series;
    if (series) {
      const mine = points(series.points[number] ?? 0);
      write(this.#points, mine);
      this.#points.title = `${mine} of ${series.game} matches`;
    }
    const kind = seat.occupant === 'bot' ? ROBOT : seat.occupant === 'player' ? PERSON : '';
    if (this.#kind.dataset.kind !== seat.occupant) {
      this.#kind.dataset.kind = seat.occupant;
      fill(this.#kind, kind && icon(kind));
    }
    const whose = you ? ' · you' : seat.occupant === 'bot' ? ' · bot' : '';
    write(this.#about, capital(seat.side) + whose);
    const won = match.outcome?.winner === number;
    const lost = match.outcome && match.outcome.winner === 1 - number;
    const drew = match.status === 'ended' && !won && !lost;
    write(
      this.#state,
      won ? 'won' : lost ? 'lost' : drew || match.clock ? '' : onTurn ? 'to move' : '',
    );
    this.element.classList.toggle('on-turn', onTurn);
    this.element.classList.toggle('won', won);
    this.element.classList.toggle('open', seat.occupant === 'open');
  }

  /** @param {Board} board @param {Tally} [tally] what this seat has brought about */
  tally(board, { says, pieces = [] } = { says: '' }) {
    if (this.#tally.dataset.says === says) return;
    this.#tally.dataset.says = says;
    this.#tally.hidden = says === '';
    // What is drawn is said for those who do not see it.
    const drawn = pieces.map((piece) => iconOf(board, piece));
    fill(this.#tally, ...drawn, h('span', { class: drawn.length > 0 ? 'unseen' : '' }, says));
  }

  /** @param {Shown | null} shown @param {Match} match @param {boolean} connected */
  showClock(shown, { clock }, connected) {
    this.#clock.show(shown, clock, this.#name.textContent ?? '', connected);
  }

  /** @param {string} text */
  showAway(text) {
    write(this.#away, text && ` · ${text}`);
    this.element.classList.toggle('gone', text !== '');
  }
}
