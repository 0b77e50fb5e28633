// The leaderboard page: the best players of each game and rating pool.

import { select } from '../ui/form-controls.ts';
import { RequestError } from '../net/connection.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { capitalize, formatNumber, translate } from '../text/language.ts';
import { NotFound } from '../app/not-found.ts';
import { profilePath, ratingText } from '../social/player-links.ts';
import { errorText } from '../text/phrases.ts';
import { poolName } from './profile.ts';

import type {
  LeaderboardRow,
  Leaderboard as LeaderboardReply,
  RequestOf,
} from '../net/protocol.ts';
import type { App } from '../app/main.ts';

const POOLS = ['live', 'days', 'bots'] as const;
type Selection = Required<Pick<RequestOf<'leaders'>, 'game' | 'pool'>>;
const PAGE_SIZE = 50;

export class Leaderboard {
  #app;
  #fields = h('div', { class: 'row fields filters' });
  #rows = h('tbody');
  #table;
  #status = h('p', { class: 'none', role: 'status' });
  #moreButton = h('button', { type: 'button', hidden: true }, translate('games.more'));
  /** The selected leaderboard, which is also in the URL fragment. */
  #selection = parseSelection(location.hash);
  #lastPlace = 0;
  /** Number of the last request. Replies to earlier requests are dropped. */
  #requestNumber = 0;
  #notFound: NotFound | null = null;
  /** Content of the page, shown once the server is known to have accounts. */
  #content;
  #isShown = false;
  element = h('div', { class: 'you' }, h('p', { role: 'status' }, translate('page.loading')));

  constructor(app: App) {
    this.#app = app;
    this.#moreButton.addEventListener('click', () => void this.#load(this.#lastPlace));
    const head = ['leaders.place', 'leaders.player', 'rating.label', 'leaders.games'] as const;
    this.#table = h(
      'table',
      { class: 'leaders', hidden: true },
      h('caption', { class: 'unseen' }, translate('leaders.title')),
      h('thead', {}, h('tr', {}, ...head.map((key) => h('th', { scope: 'col' }, translate(key))))),
      this.#rows,
    );
    this.#content = [
      h('h1', {}, translate('leaders.title')),
      this.#fields,
      this.#table,
      this.#status,
      this.#moreButton,
      h('p', { class: 'note' }, translate('leaders.about')),
    ];
  }

  title() {
    if (this.#notFound) return this.#notFound.title();
    return this.#isShown ? `${translate('leaders.title')} – Plyhouse` : 'Plyhouse';
  }

  update() {
    const { games, connection } = this.#app;
    const { isOffline, welcome } = connection;
    if (!isOffline && !welcome) return;
    // Without accounts the server has no ratings.
    if (!isOffline && welcome?.accounts === undefined) {
      this.#notFound ??= new NotFound();
      replaceChildren(this.element, this.#notFound.element);
      return;
    }
    if (!this.#isShown) replaceChildren(this.element, ...this.#content);
    this.#isShown = true;
    // The request then fails with an error that says that the server is needed.
    if (isOffline) return;
    if (this.#fields.childElementCount > 0 || games.length === 0) return;
    const { game, pool } = this.#selection;
    const isKnown = games.some((entry) => entry.game === game);
    this.#selection = { game: isKnown ? game : (games[0]?.game ?? ''), pool };
    replaceChildren(
      this.#fields,
      select(
        translate('lobby.game'),
        games.map(({ game, title }) => ({ value: game, title })),
        this.#selection.game,
        (game) => this.#select({ game }),
      ),
      select(
        translate('leaders.pool'),
        POOLS.map((pool) => ({ value: pool, title: capitalize(poolName(pool)) })),
        pool,
        (value) => this.#select({ pool: parsePool(value) }),
      ),
    );
  }

  onWelcome() {
    this.update();
    if (!this.#notFound) void this.#load();
  }

  #select(change: Partial<Selection>) {
    this.#selection = { ...this.#selection, ...change };
    const { game, pool } = this.#selection;
    history.replaceState(history.state, '', `${location.pathname}#${game}/${pool}`);
    void this.#load();
  }

  /** Loads the first page, or the page after a place. */
  async #load(after?: number) {
    const requestNumber = ++this.#requestNumber;
    let reply: LeaderboardReply;
    try {
      const place = after === undefined ? {} : { after };
      const request = { type: 'leaders' as const, ...this.#selection, limit: PAGE_SIZE };
      reply = await this.#app.connection.request({ ...request, ...place });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (requestNumber === this.#requestNumber && error.code !== 'lost') this.#showError(error);
      return;
    }
    if (requestNumber !== this.#requestNumber) return;
    const rows = reply.rows.map((row) => this.#row(row));
    const hadFocus = document.activeElement === this.#moreButton;
    replaceChildren(this.#rows, ...(after === undefined ? [] : this.#rows.children), ...rows);
    this.#lastPlace = reply.rows.at(-1)?.place ?? this.#lastPlace;
    const count = this.#rows.childElementCount;
    this.#table.hidden = count === 0;
    setText(this.#status, count === 0 ? translate('leaders.none') : '');
    this.#moreButton.hidden = rows.length === 0 || this.#lastPlace >= reply.total;
    if (hadFocus) rows[0]?.querySelector('a')?.focus();
  }

  #showError(error: RequestError) {
    this.#table.hidden = true;
    this.#moreButton.hidden = true;
    setText(this.#status, errorText(error));
  }

  #row({ place, player, rating, games }: LeaderboardRow) {
    const isSelf = player.id === this.#app.player?.id;
    const name = h('a', { href: profilePath(player.name) }, h('bdi', {}, player.name));
    return h(
      'tr',
      isSelf ? { class: 'self', 'aria-current': 'true' } : {},
      h('td', {}, formatNumber(place)),
      h('th', { scope: 'row' }, name),
      h('td', {}, ratingText(rating)),
      h('td', {}, formatNumber(games)),
    );
  }
}

function parseSelection(hash: string): Selection {
  const [game = '', name = ''] = hash.slice(1).split('/');
  return { game, pool: parsePool(name) };
}

const parsePool = (name: string) => POOLS.find((pool) => pool === name) ?? 'live';
