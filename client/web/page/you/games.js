// All of one's games: those that are played, and below those that are over, newest first.

import { h } from '../dom.js';
import { day, say } from '../language.js';
import { select } from '../controls.js';
import { OwnMatches, told } from '../own-matches.js';
import { Section } from '../rows.js';

/** @import { History, HistoryRow, Message } from '../../protocol.js' */
/** @import { App } from '../main.js' */
/** @import { Told } from '../rows.js' */

/** So many are shown before one asks for more. */
const PAGE = 20;

export class Games {
  #app;
  #live;
  #ended;
  #more = h('button', { type: 'button', hidden: true }, say('games.more'));
  #filter = h('div', { class: 'filter' });
  /** The game whose matches are shown; of all if it is empty. */
  #game = '';
  /** @type {HistoryRow[]} */
  #rows = [];
  /** What was asked last; what was asked before it is old. */
  #asked = 0;
  element;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    this.#live = new OwnMatches(app);
    const go = (/** @type {{ match: string }} */ { match }) => app.go(`/m/${match}`);
    this.#ended = new Section(say('games.ended'), say('games.none'), go);
    this.#more.addEventListener('click', () => void this.#ask(this.#rows.at(-1)?.match));
    this.element = h(
      'div',
      { class: 'you' },
      h('h1', {}, say('games.title')),
      this.#live.element,
      h('div', { class: 'over' }, this.#filter, this.#ended.element),
      this.#more,
    );
  }

  title() {
    return `${say('games.title')} – Plyhouse`;
  }

  update() {
    this.#live.update();
    const { games } = this.#app;
    if (this.#filter.childElementCount > 0 || games.length === 0) return;
    const options = games.map(({ game, title }) => ({ value: game, title }));
    const all = { value: '', title: say('list.all') };
    const choose = (/** @type {string} */ game) => {
      this.#game = game;
      void this.#ask();
    };
    const field = select(say('lobby.game'), [all, ...options], '', choose);
    // Beside its heading it needs no other.
    field.firstElementChild?.classList.add('unseen');
    this.#filter.append(field);
  }

  welcomed() {
    void this.#ask();
  }

  /** @param {Message} message */
  hear(message) {
    if (message.type === 'ended') void this.#ask();
  }

  leave() {}

  /** Shows the first page, or what comes after this match. @param {string} [before] */
  async #ask(before) {
    const asked = ++this.#asked;
    const game = this.#game ? { game: this.#game } : {};
    const after = before === undefined ? {} : { before };
    /** @type {History | null} */
    const answer = await this.#app.ask({ type: 'history', limit: PAGE, ...game, ...after });
    if (!answer || asked !== this.#asked) return;
    const hadFocus = document.activeElement === this.#more;
    const shown = before === undefined ? 0 : this.#rows.length;
    this.#rows = [...this.#rows.slice(0, shown), ...answer.rows];
    this.#ended.show(this.#rows.map((row) => this.#told(row)));
    this.#more.hidden = !answer.more;
    if (hadFocus) this.#ended.focus(shown);
  }

  /** @param {HistoryRow} row @returns {Told} */
  #told(row) {
    const result = resultOf(row);
    const line = told(
      this.#app,
      row,
      say('games.show'),
      // A number stays with what it counts.
      say('list.moves', { count: row.plies }).replace(' ', '\u00a0'),
      day(row.ended_ms),
    );
    const came = say(`games.${result}`);
    const about = `${came} · ${line.about}`;
    // One knows oneself.
    return { ...line, names: line.names.slice(1 - row.you, 2 - row.you), about, result };
  }
}

/** What it came to for oneself. @param {HistoryRow} row */
function resultOf({ outcome: { winner, reason }, you }) {
  if (reason === 'aborted') return 'off';
  if (winner === null) return 'drawn';
  return winner === you ? 'won' : 'lost';
}
