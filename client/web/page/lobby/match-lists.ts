// The matches that one can join, watch, or go back to.

import { matchNamed } from '../model/match-code.ts';
import { complain, fill, h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { WatchedLists } from '../net/list-store.ts';
import { Live } from './featured-game.ts';
import { OwnMatches, told } from './my-games.ts';
import { Section } from './match-rows.ts';
import { SeekersPlace } from './seek-list.ts';

import type { ListChanged, Seeker, Seekers } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** More than fits on a screen, of each kind; a crowd meets by code or by search. */
const ROWS = 12;
/** So many of our own are seen at once; the others are in a list that unfolds. */
const MINE = 5;

export class Listing {
  /** One's own: apart, because they come first where there is little room. */
  own;
  /** Those of others. */
  element;
  #app;
  #open;
  #running;
  #lists;
  #live;
  #seekers;
  #leaders = h('p', { hidden: true }, h('a', { href: '/leaders' }, say('leaders.title')));
  /** The game whose matches are shown; of all if it is empty. */
  #game = '';
  /** What there is of others. */
  #ofOthers: HTMLElement[];
  #games = h('select', { id: 'shown-games', onchange: () => this.#show(this.#games.value) });
  #onSight = () => (document.hidden ? this.#rest() : this.start());

  /** @param answer looks for the same as somebody else */
  constructor(app: App, answer: (seeker: Seeker) => void) {
    this.#app = app;
    const section = (title: string, none: string, wish: { watch?: boolean } = {}) =>
      new Section(title, none, (row) => app.goTo(row, wish));
    this.#lists = new WatchedLists(app.connection, () => this.update());
    this.own = new OwnMatches(app, { atMost: MINE });
    this.#open = section(say('list.open'), say('list.open.none'));
    this.#running = section(say('list.running'), say('list.running.none'), { watch: true });
    this.#live = new Live(app);
    this.#seekers = new SeekersPlace(app, answer);
    this.#ofOthers = [
      this.#byCode(),
      h(
        'div',
        { class: 'row shown-games' },
        h('label', { for: 'shown-games' }, say('list.of')),
        this.#games,
      ),
      this.#open.element,
      this.#running.element,
    ];
    this.element = h(
      'section',
      { class: 'listing', 'aria-label': say('list.matches') },
      this.#seekers.element,
      this.#live.element,
      ...this.#ofOthers,
      h('p', {}, h('a', { href: '/games' }, say('games.all'))),
      this.#leaders,
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

  changed(change: ListChanged) {
    this.#lists.changed(change);
  }

  seekersTold(told: Seekers) {
    void this.#seekers.told(told);
  }

  #show(game: string) {
    this.#game = game;
    this.start();
  }

  update() {
    const isMine = this.own.update();
    const { open, running } = this.#lists.known;
    for (const [section, { rows, total }, action] of [
      [this.#open, open, say('list.join')],
      [this.#running, running, say('list.watch')],
    ] as const) {
      const theirs = rows.filter(({ match }) => !isMine.has(match));
      const shown = theirs.slice(0, ROWS);
      const more = total - rows.length + theirs.length - shown.length;
      section.show(
        shown.map((row) => told(this.#app, row, action)),
        more,
      );
    }
    const played = running.rows.filter(({ match }) => !isMine.has(match));
    this.#live.update(document.hidden ? [] : played, this.#lists.isKnown);
    this.#offerGames();
    const { isAlone } = this.#app.connection;
    for (const element of [this.#seekers.element, ...this.#ofOthers]) element.hidden = isAlone;
    // Ratings are of accounts.
    this.#leaders.hidden = this.#app.connection.welcome?.accounts === undefined;
  }

  /** Whose matches one wants to see. */
  #offerGames() {
    const { games } = this.#app;
    const titles = games.map(({ title }) => title).join();
    if (this.#games.dataset.titles === titles) return;
    this.#games.dataset.titles = titles;
    const option = (value: string, title: string) =>
      h('option', { value, selected: value === this.#game }, title);
    fill(
      this.#games,
      option('', say('list.all')),
      ...games.map(({ game, title }) => option(game, title)),
    );
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
    const go = (event: Event) => {
      event.preventDefault();
      const named = matchNamed(code.value);
      if (named !== null) {
        this.#app.goTo({ code: named });
        return;
      }
      code.focus();
      complain(trouble, say('list.code.wrong'));
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
