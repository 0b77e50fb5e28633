// The lists of matches that the player can join, watch or return to.

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

/** Maximum number of rows of each list. */
const ROWS_MAX = 12;
/** Number of own matches that are always visible. The others are in a list that unfolds. */
const OWN_ROWS = 5;

export class MatchLists {
  /** The own matches are a separate element, because narrow windows show them first. */
  myGames;
  /** The matches of other players. */
  element;
  #app;
  #open;
  #running;
  #lists;
  #featuredGame;
  #seekList;
  #leaders = h('p', { hidden: true }, h('a', { href: '/leaders' }, translate('leaders.title')));
  /** The game that the lists are limited to; empty for all games. */
  #game = '';
  /** Elements that are hidden offline. */
  #onlineElements: HTMLElement[];
  #gameFilter = h('select', {
    id: 'shown-games',
    onchange: () => this.#show(this.#gameFilter.value),
  });
  #onVisibilityChange = () => (document.hidden ? this.#unsubscribe() : this.start());

  /** @param answer starts a seek with the same options as another player's */
  constructor(app: App, answer: (seeker: Seeker) => void) {
    this.#app = app;
    const section = (title: string, emptyText: string, options: { watch?: boolean } = {}) =>
      new MatchListSection(title, emptyText, (row) => app.goToMatch(row, options));
    this.#lists = new ListSubscription(app.connection, () => this.update());
    this.myGames = new MyGames(app, { atMost: OWN_ROWS });
    this.#open = section(translate('list.open'), translate('list.open.none'));
    this.#running = section(translate('list.running'), translate('list.running.none'), {
      watch: true,
    });
    this.#featuredGame = new FeaturedGame(app);
    this.#seekList = new SeekList(app, answer);
    this.#onlineElements = [
      this.#byCode(),
      h(
        'div',
        { class: 'row shown-games' },
        h('label', { for: 'shown-games' }, translate('list.of')),
        this.#gameFilter,
      ),
      this.#open.element,
      this.#running.element,
    ];
    this.element = h(
      'section',
      { class: 'listing', 'aria-label': translate('list.matches') },
      this.#seekList.element,
      this.#featuredGame.element,
      ...this.#onlineElements,
      h('p', {}, h('a', { href: '/games' }, translate('games.all'))),
      this.#leaders,
    );
  }

  /** Subscribes to the lists. Each new connection requires another call. */
  start() {
    document.addEventListener('visibilitychange', this.#onVisibilityChange);
    // A hidden page has no subscription.
    if (document.hidden) return;
    void this.#lists.subscribe(this.#game ? { game: this.#game } : {});
  }

  stop() {
    document.removeEventListener('visibilitychange', this.#onVisibilityChange);
    this.#unsubscribe();
  }

  #unsubscribe() {
    this.#lists.unsubscribe();
    this.#featuredGame.stop();
  }

  /** The server has ended the subscriptions of the previous connection. */
  onWelcome() {
    this.#featuredGame.reset();
    this.start();
  }

  onChange(action: Action) {
    if (action.type === 'list_changed') this.#lists.onListChanged(action);
    if (action.type === 'seekers') void this.#seekList.onSeekers(action);
  }

  #show(game: string) {
    this.#game = game;
    this.start();
  }

  update() {
    const ownMatches = this.myGames.update();
    const { open, running } = this.#lists.byStatus;
    for (const [section, { rows, total }, action] of [
      [this.#open, open, translate('list.join')],
      [this.#running, running, translate('list.watch')],
    ] as const) {
      const others = rows.filter(({ match }) => !ownMatches.has(match));
      const shown = others.slice(0, ROWS_MAX);
      const more = total - rows.length + others.length - shown.length;
      section.show(
        shown.map((row) => toMatchRow(this.#app, row, action)),
        more,
      );
    }
    const watchable = running.rows.filter(({ match }) => !ownMatches.has(match));
    this.#featuredGame.update(document.hidden ? [] : watchable, this.#lists.isLoaded);
    this.#renderGameFilter();
    const { isOffline } = this.#app.connection;
    for (const element of [this.#seekList.element, ...this.#onlineElements])
      element.hidden = isOffline;
    // Only accounts have ratings.
    this.#leaders.hidden = this.#app.connection.welcome?.accounts === undefined;
  }

  #renderGameFilter() {
    const { games } = this.#app;
    const titles = games.map(({ title }) => title).join();
    if (this.#gameFilter.dataset.titles === titles) return;
    this.#gameFilter.dataset.titles = titles;
    const option = (value: string, title: string) =>
      h('option', { value, selected: value === this.#game }, title);
    replaceChildren(
      this.#gameFilter,
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
        setText(error, '');
        // A pasted link is replaced by its code.
        if (code.value.includes('/')) code.value = parseMatchCode(code.value) ?? code.value;
      },
    });
    const error = h('p', { id: 'code-trouble', class: 'trouble', role: 'alert' });
    const go = (event: Event) => {
      event.preventDefault();
      const parsed = parseMatchCode(code.value);
      if (parsed !== null) {
        this.#app.goToMatch({ code: parsed });
        return;
      }
      code.focus();
      showError(error, translate('list.code.wrong'));
    };
    return h(
      'form',
      { class: 'by-code', onsubmit: go },
      h('label', { for: 'code' }, translate('list.code')),
      h('div', { class: 'row' }, code, h('button', {}, translate('list.show'))),
      error,
    );
  }
}
