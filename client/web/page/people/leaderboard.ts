// The best of each game, in each pool.

import { select } from '../ui/form-controls.ts';
import { RequestError } from '../net/connection.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { capitalize, formatNumber, translate } from '../text/language.ts';
import { NotFound } from '../app/not-found.ts';
import { profilePath, ratingText } from '../social/player-links.ts';
import { errorText } from '../text/phrases.ts';
import { poolName } from './profile.ts';

import type { LeaderboardRow, Leaderboard as Told, RequestOf } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

const POOLS = ['live', 'days', 'bots'] as const;
/** The game and the pool of a leaderboard. */
type Chosen = Required<Pick<RequestOf<'leaders'>, 'game' | 'pool'>>;
/** So many are shown before one asks for more. */
const PAGE = 50;

export class Leaderboard {
  #app;
  #fields = h('div', { class: 'row fields filters' });
  #rows = h('tbody');
  #table;
  #none = h('p', { class: 'none', role: 'status' });
  #more = h('button', { type: 'button', hidden: true }, translate('games.more'));
  /** What is shown, as the address has it. */
  #chosen = chosenIn(location.hash);
  /** The place of the last row. */
  #last = 0;
  /** What was asked last; what was asked before it is old. */
  #asked = 0;
  #nowhere: NotFound | null = null;
  /** All of it, and whether that is shown: not before it is known that there are accounts. */
  #whole;
  #isShown = false;
  element = h('div', { class: 'you' }, h('p', { role: 'status' }, translate('page.loading')));

  constructor(app: App) {
    this.#app = app;
    this.#more.addEventListener('click', () => void this.#ask(this.#last));
    const head = ['leaders.place', 'leaders.player', 'rating.label', 'leaders.games'];
    this.#table = h(
      'table',
      { class: 'leaders', hidden: true },
      h('caption', { class: 'unseen' }, translate('leaders.title')),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...head.map((key) =>
            h('th', { scope: 'col' }, translate(key as import('../text/language.ts').TextKey)),
          ),
        ),
      ),
      this.#rows,
    );
    this.#whole = [
      h('h1', {}, translate('leaders.title')),
      this.#fields,
      this.#table,
      this.#none,
      this.#more,
      h('p', { class: 'note' }, translate('leaders.about')),
    ];
  }

  title() {
    if (this.#nowhere) return this.#nowhere.title();
    return this.#isShown ? `${translate('leaders.title')} – Plyhouse` : 'Plyhouse';
  }

  update() {
    const { games, connection } = this.#app;
    const { isOffline: isAlone, welcome } = connection;
    if (!isAlone && !welcome) return;
    // Where there are no accounts, nobody is rated.
    if (!isAlone && welcome?.accounts === undefined) {
      this.#nowhere ??= new NotFound();
      replaceChildren(this.element, this.#nowhere.element);
      return;
    }
    if (!this.#isShown) replaceChildren(this.element, ...this.#whole);
    this.#isShown = true;
    // That it needs the server is told when it is asked for.
    if (isAlone) return;
    if (this.#fields.childElementCount > 0 || games.length === 0) return;
    const { game, pool } = this.#chosen;
    const isKnown = games.some((known) => known.game === game);
    this.#chosen = { game: isKnown ? game : (games[0]?.game ?? ''), pool };
    replaceChildren(
      this.#fields,
      select(
        translate('lobby.game'),
        games.map(({ game, title }) => ({ value: game, title })),
        this.#chosen.game,
        (game) => this.#choose({ game }),
      ),
      select(
        translate('leaders.pool'),
        POOLS.map((pool) => ({ value: pool, title: capitalize(poolName(pool)) })),
        pool,
        (name) => this.#choose({ pool: poolOf(name) }),
      ),
    );
  }

  onWelcome() {
    this.update();
    if (!this.#nowhere) void this.#ask();
  }

  unmount() {}

  #choose(change: Partial<Chosen>) {
    this.#chosen = { ...this.#chosen, ...change };
    const { game, pool } = this.#chosen;
    history.replaceState(history.state, '', `${location.pathname}#${game}/${pool}`);
    void this.#ask();
  }

  /** Shows the first page, or what comes after this place. */
  async #ask(after?: number) {
    const asked = ++this.#asked;
    let answer: Told;
    try {
      const place = after === undefined ? {} : { after };
      const request = { type: 'leaders' as const, ...this.#chosen, limit: PAGE };
      answer = await this.#app.connection.request({ ...request, ...place });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (asked === this.#asked && error.code !== 'lost') this.#refuse(error);
      return;
    }
    if (asked !== this.#asked) return;
    const rows = answer.rows.map((row) => this.#row(row));
    const hadFocus = document.activeElement === this.#more;
    replaceChildren(this.#rows, ...(after === undefined ? [] : this.#rows.children), ...rows);
    this.#last = answer.rows.at(-1)?.place ?? this.#last;
    const count = this.#rows.childElementCount;
    this.#table.hidden = count === 0;
    setText(this.#none, count === 0 ? translate('leaders.none') : '');
    this.#more.hidden = rows.length === 0 || this.#last >= answer.total;
    if (hadFocus) rows[0]?.querySelector('a')?.focus();
  }

  #refuse(refusal: RequestError) {
    this.#table.hidden = true;
    this.#more.hidden = true;
    setText(this.#none, errorText(refusal));
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

/** What an address asks for. */
function chosenIn(hash: string): Chosen {
  const [game = '', name = ''] = hash.slice(1).split('/');
  return { game, pool: poolOf(name) };
}

const poolOf = (name: string) => POOLS.find((pool) => pool === name) ?? 'live';
