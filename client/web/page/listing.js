// The matches that one can join, watch, or go back to.

import { challengedTo } from './challenging.js';
import { matchNamed } from './code.js';
import { isByDays } from './days.js';
import { fill, h, write } from './dom.js';
import { date, say } from './language.js';
import { WatchedLists } from './lists.js';
import { Live } from './live.js';
import { isMyTurn, isStoodIn } from './match.js';
import { Section } from './rows.js';
import { clockWords } from './time.js';
import { occupant, watching } from './words.js';

/** @import { Listed, ListChanged } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */
/** @import { DaysRow } from './days.js' */
/** @import { Row, Told } from './rows.js' */

/** More than fits on a screen, of each kind; a crowd meets by code or by search. */
const ROWS = 12;
/** So many of our own are seen at once; the others are in a list that unfolds. */
const MINE = 5;

export class Listing {
  /** One's own: apart, because they come first where there is little room. */
  own = h('section', { class: 'listing own', 'aria-label': say('list.own') });
  /** Those of others. */
  element;
  #app;
  #mine;
  #days;
  #open;
  #running;
  #lists;
  #live;
  /** The game whose matches are shown; of all if it is empty. */
  #game = '';
  #games = h('select', { id: 'shown-games', onchange: () => this.#show(this.#games.value) });
  #onSight = () => (document.hidden ? this.#rest() : this.start());

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    const section = (
      /** @type {string} */ title,
      /** @type {string} */ none,
      /** @type {{ watch?: boolean }} */ wish = {},
    ) => new Section(title, none, (row) => app.goTo(row, wish));
    this.#lists = new WatchedLists(app.connection, () => this.update());
    this.#mine = new Section(say('list.mine'), '', (row) => this.#goOn(row), MINE);
    // By its id: a code is not known of what one has not seen here.
    this.#days = new Section(say('list.days'), '', ({ match }) => app.go(`/m/${match}`), MINE);
    this.#open = section(say('list.open'), say('list.open.none'));
    this.#running = section(say('list.running'), say('list.running.none'), { watch: true });
    this.own.append(this.#mine.element, this.#days.element);
    this.#live = new Live(app);
    this.element = h(
      'section',
      { class: 'listing', 'aria-label': say('list.matches') },
      this.#live.element,
      this.#byCode(),
      h(
        'div',
        { class: 'row shown-games' },
        h('label', { for: 'shown-games' }, say('list.of')),
        this.#games,
      ),
      this.#open.element,
      this.#running.element,
    );
  }

  /** To be called with each connection. */
  start() {
    document.addEventListener('visibilitychange', this.#onSight);
    // Who does not look is told nothing.
    if (document.hidden) return;
    void this.#lists.watch(this.#game ? { game: this.#game } : {});
  }

  stop() {
    document.removeEventListener('visibilitychange', this.#onSight);
    this.#rest();
  }

  /** Who does not look is told nothing. */
  #rest() {
    this.#lists.stop();
    this.#live.stop();
  }

  /** With a new connection nothing is watched any more. */
  welcomed() {
    this.#live.start();
    this.start();
  }

  /** @param {ListChanged} change */
  changed(change) {
    this.#lists.changed(change);
  }

  /** @param {string} game */
  #show(game) {
    this.#game = game;
    this.start();
  }

  update() {
    const mine = this.#app.mine();
    const days = this.#app.days.rows;
    const isMine = new Set([...mine, ...days].map(({ match }) => match));
    // What waits for us comes first, and last what waits for somebody else to come.
    const urgency = (/** @type {Match} */ match) =>
      isMyTurn(match) ? 0 : match.status === 'running' ? 1 : 2;
    mine.sort((one, other) => urgency(one) - urgency(other));
    const now = mine.filter((match) => !isByDays(match));
    this.#mine.show(now.map((match) => this.#toldOfMine(match)));
    this.#days.show(days.map((row) => this.#toldOfDays(row)));
    this.own.hidden = now.length + days.length === 0;
    const { open, running } = this.#lists.known;
    for (const [section, { rows, total }, action] of /** @type {const} */ ([
      [this.#open, open, say('list.join')],
      [this.#running, running, say('list.watch')],
    ])) {
      const theirs = rows.filter(({ match }) => !isMine.has(match));
      const shown = theirs.slice(0, ROWS);
      const more = total - rows.length + theirs.length - shown.length;
      section.show(
        shown.map((row) => this.#told(row, action)),
        more,
      );
    }
    const played = running.rows.filter(({ match }) => !isMine.has(match));
    this.#live.update(document.hidden ? [] : played);
    this.#offerGames();
  }

  /** Whose matches one wants to see. */
  #offerGames() {
    const { games } = this.#app;
    const titles = games.map(({ title }) => title).join();
    if (this.#games.dataset.titles === titles) return;
    this.#games.dataset.titles = titles;
    const option = (/** @type {string} */ value, /** @type {string} */ title) =>
      h('option', { value, selected: value === this.#game }, title);
    fill(
      this.#games,
      option('', say('list.all')),
      ...games.map(({ game, title }) => option(game, title)),
    );
  }

  /** @param {Row} row one of ours */
  #goOn(row) {
    const match = this.#app.matches.get(row.match);
    // Only by asking for it one gets back the seat in which a bot plays.
    if (match && isStoodIn(match, this.#app.player?.id)) {
      void this.#app.enter({ type: 'join', match: row.match });
    } else {
      this.#app.goTo(row);
    }
  }

  /** @param {Match} match @returns {Told} */
  #toldOfMine(match) {
    const { status, host, you, ply } = match;
    const told = this.#told(
      match,
      say(isMyTurn(match) ? 'list.turn' : 'list.go'),
      // Of other matches nobody tells how far they are. A number stays with what it counts.
      ply > 0 && say('list.moves', { count: ply }).replace(' ', '\u00a0'),
      watching(match),
    );
    if (isStoodIn(match, this.#app.player?.id)) {
      const about = `${told.about} · ${say('list.standIn')}`;
      return { ...told, about, action: say('offers.seat') };
    }
    const [one = '', other = ''] = told.names;
    // One knows oneself.
    const names = you === null ? told.names : [you === 0 ? other : one];
    if (status !== 'open') return { ...told, names };
    const opponent = challengedTo(match);
    const isHost = host === this.#app.player?.id;
    return {
      ...told,
      names: opponent ? [opponent] : names,
      about: `${told.about} · ${opponent ? say('list.asked') : match.code}`,
      action: say('list.show'),
      ...(isHost
        ? { callOff: () => void this.#app.ask({ type: 'leave', match: match.match }) }
        : {}),
    };
  }

  /** @param {DaysRow} row @returns {Told} */
  #toldOfDays({ match, isMine, due, known }) {
    const { game, opponent, code } = known;
    const turn = isMine === null ? 'days.open' : isMine ? 'days.yours' : 'days.theirs';
    const about = [
      game !== undefined && (this.#app.game(game)?.title ?? game),
      due === null || turn === 'days.open' ? say(turn) : say(`${turn}.until`, { date: date(due) }),
    ];
    return {
      row: { match, code: code ?? match },
      names: [opponent || say(isMine === null ? 'seat.open' : 'days.match')],
      about: about.filter(Boolean).join(' · '),
      action: say(isMine ? 'list.turn' : isMine === null ? 'list.show' : 'list.go'),
    };
  }

  /**
   * @param {Listed | Match} row
   * @param {string} action
   * @param {...(string | false)} more what else is to be known of it
   * @returns {Told}
   */
  #told(row, action, ...more) {
    const { game, clock } = row;
    const about = [this.#app.game(game)?.title ?? game, clock && clockWords(clock), ...more];
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
      write(trouble, say('list.code.wrong'));
      code.focus();
    };
    return h(
      'form',
      { class: 'by-code', onsubmit: go },
      h('label', { for: 'code' }, say('list.code')),
      h('div', { class: 'row' }, code, h('button', {}, say('list.show'))),
      trouble,
    );
  }
}
