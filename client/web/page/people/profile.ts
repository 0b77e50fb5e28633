// What one can know of a player: how strong they are, what they have won and lost, and their last games.

import { RequestError } from '../net/connection.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { formatDate, tryTranslate, formatList, translate } from '../text/language.ts';
import { gameTitle } from '../text/labels.ts';
import { ratingText } from '../social/player-links.ts';
import { MatchListSection } from '../lobby/match-rows.ts';
import { errorText } from '../text/phrases.ts';
import { endedGameRow } from '../account/game-history.ts';
import { blockButton } from './block-button.ts';
import { showChallengeDialog } from '../social/challenge-dialog.ts';
import { ratingGraph } from './rating-graph.ts';

import type { PoolRating, Profile as Told } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class Profile {
  #app;
  #name;
  #told: Told | null = null;
  /** What is drawn; with each new connection it is asked again. */
  #drawn = '';
  element = h(
    'div',
    { class: 'you profile' },
    h('p', { role: 'status' }, translate('page.loading')),
  );

  constructor(app: App, name: string) {
    this.#app = app;
    this.#name = name;
  }

  title() {
    return `${this.#told?.player.name ?? this.#name} – Plyhouse`;
  }

  update() {}

  onWelcome() {
    void this.#ask();
  }

  unmount() {}

  async #ask() {
    try {
      this.#told = await this.#app.connection.request({ type: 'profile', name: this.#name });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // With the next connection it is asked again.
      if (error.code !== 'lost') this.#refuse(error);
      return;
    }
    if (this.#told) this.#draw(this.#told);
    this.#app.update();
  }

  #refuse(refusal: RequestError) {
    this.#drawn = '';
    replaceChildren(
      this.element,
      h(
        'div',
        { class: 'empty' },
        h('h1', {}, errorText(refusal)),
        h('p', {}, h('a', { class: 'button', href: '/' }, translate('page.lobby'))),
      ),
    );
  }

  #draw(told: Told) {
    const drawn = JSON.stringify([told, this.#app.player?.id, this.#app.games.length]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const { player, ratings, last } = told;
    const go = ({ match }: { match: string }) => this.#app.navigate(`/m/${match}`);
    const rows = new MatchListSection(translate('profile.last'), translate('profile.none'), go);
    rows.show(last.map((row) => endedGameRow(this.#app, row)));
    const rated = ratings.filter(({ games }) => games > 0);
    replaceChildren(
      this.element,
      this.#head(told),
      ...rated.map((rating) => this.#rating(rating)),
      this.#score(told),
      rows.element,
      this.#records(
        player.name,
        last.some(({ game }) => game === 'chess'),
      ),
    );
  }

  #head({ player, since_ms }: Told) {
    const isSelf = player.id === this.#app.player?.id;
    const person = { player: player.id, name: player.name, account: player.account };
    const about = [
      player.bot && translate('profile.bot'),
      since_ms !== undefined && translate('profile.since', { date: formatDate(since_ms) }),
    ].filter(Boolean);
    return h(
      'div',
      { class: 'row myself' },
      h(
        'div',
        { class: 'who' },
        h('h1', {}, h('bdi', {}, player.name)),
        about.length > 0 && h('p', { class: 'note' }, about.join(' · ')),
      ),
      !isSelf &&
        h(
          'button',
          {
            type: 'button',
            class: 'primary',
            onclick: () => showChallengeDialog(this.#app, person),
          },
          translate('profile.challenge'),
        ),
      !isSelf && blockButton(this.#app, person),
      isSelf && h('a', { class: 'button', href: '/games' }, translate('games.title')),
    );
  }

  #rating({ game, pool, rating, deviation, provisional, games, series }: PoolRating) {
    const title = gameTitle(this.#app.games, game);
    const of = translate('rating.of', { game: title, pool: poolName(pool) });
    const about = [
      translate('rating.deviation', { deviation: Math.round(deviation) }),
      translate('rating.games', { count: games }),
      provisional && translate('rating.provisional'),
    ];
    return h(
      'section',
      { class: 'card rated', 'aria-label': of },
      h(
        'div',
        { class: 'row' },
        h('h2', {}, of),
        h('p', { class: 'number' }, ratingText(rating, provisional)),
      ),
      h('p', { class: 'note' }, about.filter(Boolean).join(' · ')),
      ratingGraph(series, of),
    );
  }

  #score({ won, lost, drawn }: Told) {
    const all = won + lost + drawn;
    const part = (result: string, count: number) => {
      const bar = h('span', { 'data-result': result });
      bar.style.flexGrow = String(count);
      return count > 0 && bar;
    };
    const words = [
      translate('profile.won', { count: won }),
      translate('profile.lost', { count: lost }),
      translate('profile.drawn', { count: drawn }),
    ];
    return h(
      'section',
      { class: 'card', 'aria-label': translate('profile.score') },
      h('h2', {}, translate('profile.games', { count: all })),
      all > 0 &&
        h(
          'div',
          { class: 'score-bar', 'aria-hidden': true },
          part('won', won),
          part('drawn', drawn),
          part('lost', lost),
        ),
      h('p', {}, formatList(words)),
    );
  }

  #records(name: string, hasChess: boolean) {
    if (!hasChess) return null;
    const href = `/player/${encodeURIComponent(name)}.pgn?game=chess`;
    return h('p', {}, h('a', { href, download: '' }, translate('profile.records')));
  }
}

export const poolName = (pool: string) => tryTranslate(`pool.${pool}`) ?? pool;
