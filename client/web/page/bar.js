// What one can always do beside moving, each at a place of its own: a place is kept when there is
// nothing to be done there, so that nobody clicks on what was something else a moment ago.

import { playAgain, wayAgain } from './again.js';
import { Refusal } from './connection.js';
import { fill, h, write } from './dom.js';
import { customsOf } from './games.js';
import { takebackTo } from './match.js';
import { icon } from './switches.js';
import { sentence } from './words.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

const AGAIN = 'Rematch, sides swapped';

/** So much time is given by one click. */
const GIFT_MS = 15_000;

/** Two arrows that change places. */
const TURN = 'M8 20V5M4 9l4-4 4 4M16 4v15M12 15l4 4 4-4';
const HALVES = 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16';
const BACK = 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6v1';
const FLAG = 'M6 21V4h11l-2.500 4L17 12H6';
const ROUND = 'M4 11a8 8 0 0 1 14-4l2 2M20 4v5h-5M20 13a8 8 0 0 1-14 4l-2-2M4 20v-5h5';
const PLUS = 'M12 5a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 9.500v7M8.500 13h7M10 2h4';

/**
 * What a button of the bar may do now.
 * @typedef {object} Place
 * @property {boolean} [kept] whether there is never anything to do here in this match
 * @property {string} [why] why it cannot be done now
 */

export class Bar {
  element = h('div', { class: 'bar', role: 'group', 'aria-label': 'In this match' });
  #app;
  /** @type {Match | null} */
  #match = null;
  #draw;
  #takeback;
  #resign;
  #time;
  #flip;
  #again;

  /** @param {App} app @param {{ giveUp: () => void, turn: () => void }} does */
  constructor(app, { giveUp, turn }) {
    this.#app = app;
    this.#draw = new BarButton(app, 'Offer a draw', 'Draw', HALVES, () => this.#offerDraw());
    this.#takeback = new BarButton(app, 'Take back', 'Take back', BACK, () => void this.#askBack());
    this.#resign = new BarButton(app, 'Resign …', 'Resign …', FLAG, giveUp);
    const more = `+${GIFT_MS / 1000} s`;
    const give = `${more} for the other`;
    this.#time = new BarButton(app, give, more, PLUS, () => this.#giveTime());
    this.#flip = new BarButton(app, 'Turn the board', 'Turn', TURN, turn);
    this.#again = new BarButton(app, AGAIN, 'Rematch', ROUND, () => this.#playAgain());
    const all = [this.#draw, this.#takeback, this.#resign, this.#flip, this.#time, this.#again];
    fill(this.element, ...all.map(({ element }) => element));
  }

  /** @param {Match} match @param {boolean} isTurned whether the board has been turned around */
  show(match, isTurned) {
    this.#match = match;
    const game = this.#app.game(match.game);
    const runs = match.status === 'running';
    const lost = this.#app.connection.link.state === 'open' ? '' : 'There is no connection now.';
    const again = wayAgain(match);
    const plays = match.you !== null || again === 'anew';
    // Whoever watches may turn the board, and needs no room for the rest.
    this.element.classList.toggle('looks-on', !plays);
    /** @param {string} why @param {boolean} [kept] */
    const place = (why, kept = false) => ({
      kept,
      why: runs ? lost || why : 'The match is over.',
    });
    this.#draw.show(place(whyNoDraw(match, game?.draws !== false)));
    this.#takeback.show(place(whyNoTakeback(match)));
    this.#resign.show(place(''));
    this.#time.show(place(whyNoTime(match), !match.clock));
    this.#flip.show({ kept: !customsOf(match.game).faces });
    this.#flip.element.setAttribute('aria-pressed', String(isTurned));
    const { rematch, you } = match;
    const isAsked = you !== null && rematch?.offers[you] === true;
    const why =
      again === null ? (runs ? 'When the match is over.' : 'There is nobody to play with.') : '';
    this.#again.call(
      again === 'challenge' ? 'Challenge them, sides swapped' : AGAIN,
      again === 'challenge' ? 'Challenge' : 'Rematch',
    );
    this.#again.show({ why: why || lost || (isAsked ? 'You have asked for it.' : '') });
    this.#again.element.classList.toggle('primary', again !== null);
  }

  /** Puts the focus where one goes on after the end. */
  focusAgain() {
    this.#again.element.focus();
  }

  #playAgain() {
    if (this.#match) void playAgain(this.#app, this.#match);
  }

  #offerDraw() {
    const match = this.#match;
    if (match)
      void this.#app.ask({ type: 'offer', match: match.match, offer: 'draw', ply: match.ply });
  }

  async #askBack() {
    const match = this.#match;
    if (!match) return;
    const { match: id, ply, takebacks } = match;
    try {
      await this.#app.connection.ask({ type: 'offer', match: id, offer: 'takeback', ply });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code !== 'too_soon' || error.retryAfterMs === undefined) {
        this.#app.toast(sentence(error.message));
        return;
      }
      // Whoever has slipped asks at once, and is heard a moment later.
      await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs));
      const now = this.#match;
      if (now?.match === id && now.ply === ply && now.takebacks === takebacks)
        await this.#askBack();
    }
  }

  #giveTime() {
    const match = this.#match;
    if (match) void this.#app.ask({ type: 'give_time', match: match.match, ms: GIFT_MS });
  }
}

/** A button that stays where it is, and tells why it does nothing when it does nothing. */
class BarButton {
  element;
  #name;
  #why = '';
  #text = h('span', { 'aria-hidden': true });

  /**
   * @param {App} app
   * @param {string} name what it does
   * @param {string} label what stands on it
   * @param {string} drawn
   * @param {() => void} does
   */
  constructor(app, name, label, drawn, does) {
    this.#name = name;
    const onclick = () => (this.#why ? app.toast(this.#why) : does());
    this.element = h('button', { type: 'button', onclick }, icon(drawn), this.#text);
    this.call(name, label);
  }

  /** @param {string} name what it does @param {string} label what stands on it */
  call(name, label) {
    this.#name = name;
    this.element.setAttribute('aria-label', name);
    write(this.#text, label);
  }

  /** @param {Place} place */
  show({ kept = false, why = '' }) {
    this.#why = why;
    this.element.classList.toggle('kept', kept);
    this.element.setAttribute('aria-disabled', String(why !== ''));
    this.element.title = why || this.#name;
  }
}

/** @param {Match} match @param {boolean} draws whether the game knows them */
function whyNoDraw({ ply, offers, you }, draws) {
  if (!draws) return 'In this game nobody agrees on a draw.';
  if (ply < 2) return 'A draw can be offered after two moves.';
  const mine = offers.some(({ seat, offer }) => seat === you && offer === 'draw');
  return mine ? 'You have offered a draw.' : '';
}

/** @param {Match} match */
function whyNoTakeback(match) {
  if (!match.takeback) return 'In this match nothing is taken back.';
  if (takebackTo(match) === null) return 'You have not moved yet.';
  const { offers, you } = match;
  const mine = offers.some(({ seat, offer }) => seat === you && offer === 'takeback');
  return mine ? 'You have asked for it.' : '';
}

/** @param {Match} match */
function whyNoTime({ clock, seats, you }) {
  if (clock?.kind === 'move') return 'Each move has its own time here.';
  if (seats[1 - (you ?? 0)]?.occupant === 'bot') return 'A bot takes no time from you.';
  return '';
}
