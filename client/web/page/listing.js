// The matches that one can join, watch, or go back to. The protocol tells no changes of this list,
// so it is asked for again and again while somebody looks.

import { h } from './dom.js';
import { isMyTurn } from './match.js';
import { counted, occupant } from './words.js';

/** @import { Listed, Matches, Status } from '../protocol.js' */
/** @import { App } from './main.js' */

const ASK_EVERY_MS = 2500;
/** More than fits on a screen; a crowd meets by code or by search. */
const ROWS = 20;

/** @typedef {Pick<Listed, 'match' | 'code' | 'game' | 'seats' | 'ply' | 'spectators'>} Row */

export class Listing {
  element;
  #app;
  #mine = new Section('Your matches', '');
  #open = new Section('Open matches', 'Nobody waits for an opponent now.');
  #running = new Section('Being played', 'No match is being played now.');
  /** @type {{ open: Listed[], running: Listed[] }} */
  #seen = { open: [], running: [] };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    this.element = h(
      'section',
      { class: 'listing', 'aria-label': 'Matches' },
      this.#mine.element,
      this.#open.element,
      this.#running.element,
      this.#byCode(),
    );
  }

  start() {
    this.stop();
    void this.#ask();
  }

  stop() {
    clearTimeout(this.#timer);
  }

  update() {
    const mine = [...this.#app.matches.values()].filter(
      ({ status, you, host }) =>
        status !== 'ended' && (you !== null || host === this.#app.player?.id),
    );
    const isMine = new Set(mine.map(({ match }) => match));
    const theirs = (/** @type {Listed} */ { match }) => !isMine.has(match);
    this.#mine.show(mine, (row) => this.#row(row, isMyTurn(row) ? 'Your turn' : 'Go on', {}));
    this.#open.show(this.#seen.open.filter(theirs), (row) => this.#row(row, 'Join', {}));
    this.#running.show(this.#seen.running.filter(theirs), (row) =>
      this.#row(row, 'Watch', { watch: true }),
    );
  }

  async #ask() {
    if (!document.hidden && this.#app.connection.link.state === 'open') {
      const [open, running] = await Promise.all([this.#list('open'), this.#list('running')]);
      this.#seen = { open: open ?? this.#seen.open, running: running ?? this.#seen.running };
      this.update();
    }
    clearTimeout(this.#timer);
    if (this.element.isConnected) this.#timer = setTimeout(() => void this.#ask(), ASK_EVERY_MS);
  }

  /** @param {Status} status */
  async #list(status) {
    try {
      /** @type {Matches} */
      const answer = await this.#app.connection.ask({ type: 'list', status, limit: ROWS });
      return answer.matches;
    } catch {
      // It is asked again in a moment; what is seen stays until then.
      return null;
    }
  }

  /**
   * @param {Row} row
   * @param {string} action
   * @param {{ watch?: boolean }} wish
   */
  #row(row, action, wish) {
    const names = row.seats.map((seat) => h('bdi', {}, occupant(seat, this.#app.levels)));
    const title = this.#app.game(row.game)?.title ?? row.game;
    const about = [
      title,
      row.ply > 0 && counted(row.ply, 'move', 'moves'),
      row.spectators > 0 && `${row.spectators} watching`,
    ];
    return [
      h(
        'div',
        { class: 'who' },
        h('p', { class: 'names' }, names[0], h('span', { class: 'against' }, ' – '), names[1]),
        h('p', { class: 'about' }, about.filter(Boolean).join(' · ')),
      ),
      h(
        'button',
        {
          type: 'button',
          'aria-label': `${action}: ${row.code}`,
          onclick: () => this.#app.goTo(row, wish),
        },
        action,
      ),
    ];
  }

  #byCode() {
    const code = h('input', {
      id: 'code',
      maxlength: 6,
      pattern: '[0-9A-Za-z]{6}',
      required: true,
      autocomplete: 'off',
      autocapitalize: 'characters',
      spellcheck: 'false',
      title: 'Six letters and digits',
    });
    const go = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#app.goTo({ code: code.value.toUpperCase() });
    };
    return h(
      'form',
      { class: 'by-code', onsubmit: go },
      h('label', { for: 'code' }, 'A friend gave you a code?'),
      h('div', { class: 'row' }, code, h('button', {}, 'Open')),
    );
  }
}

/** Matches of one kind. A row that has not changed stays the same element, with its focus. */
class Section {
  #list = h('ul', { class: 'rows' });
  #none;
  /** @type {Map<string, { text: string, element: HTMLElement }>} */
  #rows = new Map();
  element;

  /** @param {string} title @param {string} none what is said if there are none */
  constructor(title, none) {
    this.#none = h('p', { class: 'none' }, none);
    this.element = h('div', { class: 'kind' }, h('h2', {}, title), this.#list, this.#none);
  }

  /**
   * @template {Row} R
   * @param {R[]} rows
   * @param {(row: R) => Node[]} draw
   */
  show(rows, draw) {
    const before = this.#rows;
    this.#rows = new Map();
    for (const row of rows) {
      const drawn = draw(row);
      const text = drawn.map((node) => node.textContent).join('\n');
      const old = before.get(row.match);
      if (old?.text === text) this.#rows.set(row.match, old);
      else this.#rows.set(row.match, { text, element: h('li', {}, ...drawn) });
    }
    const now = [...this.#rows.values()].map(({ element }) => element);
    const same =
      now.length === this.#list.children.length &&
      now.every((element, at) => element === this.#list.children[at]);
    if (!same) this.#list.replaceChildren(...now);
    this.#none.hidden = rows.length > 0;
    this.element.hidden = rows.length === 0 && !this.#none.textContent;
  }
}
