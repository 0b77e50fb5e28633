// The matches that one can join, watch, or go back to. The protocol tells no changes of this list,
// so it is asked for again and again while somebody looks.

import { matchNamed } from './code.js';
import { h, write } from './dom.js';
import { isMyTurn } from './match.js';
import { Section } from './rows.js';
import { counted, occupant, watching } from './words.js';

/** @import { Matches, Status } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */
/** @import { Row, Told } from './rows.js' */

const ASK_EVERY_MS = 2500;
/** More than fits on a screen, of each kind; a crowd meets by code or by search. */
const ROWS = 12;
/** So many of our own are seen at once; the others are in a list that unfolds. */
const MINE = 5;

export class Listing {
  element;
  #app;
  #mine;
  #open;
  #running;
  /** @type {{ open: Matches | null, running: Matches | null }} */
  #seen = { open: null, running: null };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    const section = (
      /** @type {string} */ title,
      /** @type {string} */ none,
      /** @type {{ watch?: boolean }} */ wish = {},
    ) => new Section(title, none, (row) => app.goTo(row, wish));
    this.#mine = new Section('Your matches', '', (row) => app.goTo(row), MINE);
    this.#open = section('Open matches', 'Nobody waits for an opponent now.');
    this.#running = section('Being played', 'No match is being played now.', { watch: true });
    this.element = h(
      'section',
      { class: 'listing', 'aria-label': 'Matches' },
      this.#mine.element,
      this.#byCode(),
      this.#open.element,
      this.#running.element,
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
    const mine = this.#app.mine();
    const isMine = new Set(mine.map(({ match }) => match));
    // What waits for us comes first, and last what waits for somebody else to come.
    const urgency = (/** @type {Match} */ match) =>
      isMyTurn(match) ? 0 : match.status === 'running' ? 1 : 2;
    mine.sort((one, other) => urgency(one) - urgency(other));
    this.#mine.show(mine.map((match) => this.#toldOfMine(match)));
    for (const [section, seen, action] of /** @type {const} */ ([
      [this.#open, this.#seen.open, 'Join'],
      [this.#running, this.#seen.running, 'Watch'],
    ])) {
      const { matches, total } = seen ?? { matches: [], total: 0 };
      const theirs = matches.filter(({ match }) => !isMine.has(match));
      section.show(
        theirs.map((row) => this.#told(row, action)),
        total - matches.length,
      );
    }
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
      const matches = await this.#app.connection.ask({ type: 'list', status, limit: ROWS });
      return matches;
    } catch {
      // It is asked again in a moment; what is seen stays until then.
      return null;
    }
  }

  /** @param {Match} match @returns {Told} */
  #toldOfMine(match) {
    const { status, host, you } = match;
    const told = this.#told(match, isMyTurn(match) ? 'Your turn' : 'Go on');
    const [one = '', other = ''] = told.names;
    // One knows oneself.
    const names = you === null ? told.names : [you === 0 ? other : one];
    if (status !== 'open') return { ...told, names };
    const opponent = this.#app.invited.get(match.match);
    const isHost = host === this.#app.player?.id;
    return {
      ...told,
      names: opponent ? [opponent] : names,
      about: `${told.about} · ${opponent ? 'asked' : match.code}`,
      action: 'Open',
      ...(isHost
        ? { callOff: () => void this.#app.ask({ type: 'leave', match: match.match }) }
        : {}),
    };
  }

  /**
   * @param {Row & { you?: number | null }} row
   * @param {string} action
   * @returns {Told}
   */
  #told(row, action) {
    const { game, ply } = row;
    const about = [
      this.#app.game(game)?.title ?? game,
      // A number stays with what it counts.
      ply > 0 && counted(ply, 'move', 'moves').replace(' ', '\u00a0'),
      watching(row),
    ];
    const names = row.seats.map((seat) => occupant(seat, this.#app.levels));
    return { row, names, about: about.filter(Boolean).join(' · '), action };
  }

  #byCode() {
    const code = h('input', {
      id: 'code',
      autocomplete: 'off',
      autocapitalize: 'characters',
      spellcheck: 'false',
      'aria-describedby': 'code-trouble',
      oninput: () => {
        write(trouble, '');
        // Of a link one sees what is needed of it.
        if (code.value.includes('/')) code.value = matchNamed(code.value) ?? code.value;
      },
    });
    const trouble = h('p', { id: 'code-trouble', class: 'trouble', role: 'alert' });
    const go = (/** @type {Event} */ event) => {
      event.preventDefault();
      const named = matchNamed(code.value);
      if (named !== null) {
        this.#app.goTo({ code: named });
        return;
      }
      write(trouble, 'A code has six letters and digits. A link will do, too.');
      code.focus();
    };
    return h(
      'form',
      { class: 'by-code', onsubmit: go },
      h('label', { for: 'code' }, 'A friend gave you a code?'),
      h('div', { class: 'row' }, code, h('button', {}, 'Open')),
      trouble,
    );
  }
}
