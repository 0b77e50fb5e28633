// The matches that one can join, watch, or go back to.

import { parseMatchCode } from '../model/match-code.ts';
import { showError, replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { ListSubscription } from '../net/list-store.ts';
import { FeaturedGame } from './featured-game.ts';
import { MyGames, toMatchRow } from './my-games.ts';
import { MatchListSection } from './match-rows.ts';
import { SeekList } from './seek-list.ts';

import type { Action } from '../model/state.ts';
import type { Seeker } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** More than fits on a screen, of each kind; a crowd meets by code or by search. */
const ROWS = 12;
/** So many of our own are seen at once; the others are in a list that unfolds. */
const MINE = 5;

export class MatchLists {
  /** One's own: apart, because they come first where there is little room. */
  myGames;
  /** Those of others. */
  element;
  #app;
  #open;
  #running;
  #lists;
  #live;
  #seekers;
  #leaders = h('p', { hidden: true }, h('a', { href: '/leaders' }, translate('leaders.title')));
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
      new MatchListSection(title, none, (row) => app.goToMatch(row, wish));
    this.#lists = new ListSubscription(app.connection, () => this.update());
    this.myGames = new MyGames(app, { atMost: MINE });
    this.#open = section(translate('list.open'), translate('list.open.none'));
    this.#running = section(translate('list.running'), translate('list.running.none'), {
      watch: true,
    });
    this.#live = new FeaturedGame(app);
    this.#seekers = new SeekList(app, answer);
    this.#ofOthers = [
      this.#byCode(),
      h(
        'div',
        { class: 'row shown-games' },
        h('label', { for: 'shown-games' }, translate('list.of')),
        this.#games,
      ),
      this.#open.element,
      this.#running.element,
    ];
    this.element = h(
      'section',
      { class: 'listing', 'aria-label': translate('list.matches') },
      this.#seekers.element,
      this.#live.element,
      ...this.#ofOthers,
      h('p', {}, h('a', { href: '/games' }, translate('games.all'))),
      this.#leaders,
    );
  }

  /** To be called with each connection. */
  start() {
    document.addEventListener('visibilitychange', this.#onSight);
    // Who does not look is told nothing.
    if (document.hidden) return;
    void this.#lists.subscribe(this.#game ? { game: this.#game } : {});
  }

  stop() {
    document.removeEventListener('visibilitychange', this.#onSight);
    this.#rest();
  }

  /** Who does not look is told nothing. */
  #rest() {
    this.#lists.unsubscribe();
    this.#live.stop();
  }

  /** With a new connection nothing is watched any more. */
  onWelcome() {
    this.#live.reset();
    this.start();
  }

  onChange(action: Action) {
    if (action.type === 'list_changed') this.#lists.onListChanged(action);
    if (action.type === 'seekers') void this.#seekers.onSeekers(action);
  }

  #show(game: string) {
    this.#game = game;
    this.start();
  }

  update() {
    const isMine = this.myGames.update();
    const { open, running } = this.#lists.byStatus;
    for (const [section, { rows, total }, action] of [
      [this.#open, open, translate('list.join')],
      [this.#running, running, translate('list.watch')],
    ] as const) {
      const theirs = rows.filter(({ match }) => !isMine.has(match));
      const shown = theirs.slice(0, ROWS);
      const more = total - rows.length + theirs.length - shown.length;
      section.show(
        shown.map((row) => toMatchRow(this.#app, row, action)),
        more,
      );
    }
    const played = running.rows.filter(({ match }) => !isMine.has(match));
    this.#live.update(document.hidden ? [] : played, this.#lists.isLoaded);
    this.#offerGames();
    const { isOffline: isAlone } = this.#app.connection;
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
    replaceChildren(
      this.#games,
      option('', translate('list.all')),
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
        setText(trouble, '');
        // Of a link one sees what is needed of it.
        if (code.value.includes('/')) code.value = parseMatchCode(code.value) ?? code.value;
      },
    });
    const trouble = h('p', { id: 'code-trouble', class: 'trouble', role: 'alert' });
    const go = (event: Event) => {
      event.preventDefault();
      const named = parseMatchCode(code.value);
      if (named !== null) {
        this.#app.goToMatch({ code: named });
        return;
      }
      code.focus();
      showError(trouble, translate('list.code.wrong'));
    };
    return h(
      'form',
      { class: 'by-code', onsubmit: go },
      h('label', { for: 'code' }, translate('list.code')),
      h('div', { class: 'row' }, code, h('button', {}, translate('list.show'))),
      trouble,
    );
  }
}
