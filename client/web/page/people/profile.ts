// The profile page of a player: ratings, score and last games.

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

import type { PoolRating, Profile as ProfileReply } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class Profile {
  #app;
  #name;
  #profile: ProfileReply | null = null;
  /** Data of the drawn page. A reconnect draws again only if the data has changed. */
  #drawnKey = '';
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
    return `${this.#profile?.player.name ?? this.#name} – Plyhouse`;
  }

  onWelcome() {
    void this.#load();
  }

  async #load() {
    try {
      this.#profile = await this.#app.connection.request({ type: 'profile', name: this.#name });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // After a reconnect, `onWelcome` loads the profile again.
      if (error.code !== 'lost') this.#showError(error);
      return;
    }
    if (this.#profile) this.#draw(this.#profile);
    this.#app.update();
  }

  #showError(error: RequestError) {
    this.#drawnKey = '';
    replaceChildren(
      this.element,
      h(
        'div',
        { class: 'empty' },
        h('h1', {}, errorText(error)),
        h('p', {}, h('a', { class: 'button', href: '/' }, translate('page.lobby'))),
      ),
    );
  }

  #draw(profile: ProfileReply) {
    const key = JSON.stringify([profile, this.#app.player?.id, this.#app.games.length]);
    if (key === this.#drawnKey) return;
    this.#drawnKey = key;
    const { player, ratings, last } = profile;
    const openMatch = ({ match }: { match: string }) => this.#app.navigate(`/m/${match}`);
    const rows = new MatchListSection(
      translate('profile.last'),
      translate('profile.none'),
      openMatch,
    );
    rows.show(last.map((row) => endedGameRow(this.#app, row)));
    const rated = ratings.filter(({ games }) => games > 0);
    replaceChildren(
      this.element,
      this.#header(profile),
      ...rated.map((rating) => this.#ratingCard(rating)),
      this.#scoreCard(profile),
      rows.element,
      this.#pgnLink(
        player.name,
        last.some(({ game }) => game === 'chess'),
      ),
    );
  }

  #header({ player, since_ms }: ProfileReply) {
    const isSelf = player.id === this.#app.player?.id;
    const opponent = { player: player.id, name: player.name, account: player.account };
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
            onclick: () => showChallengeDialog(this.#app, opponent),
          },
          translate('profile.challenge'),
        ),
      !isSelf && blockButton(this.#app, opponent),
      isSelf && h('a', { class: 'button', href: '/games' }, translate('games.title')),
    );
  }

  #ratingCard({ game, pool, rating, deviation, provisional, games, series }: PoolRating) {
    const title = gameTitle(this.#app.games, game);
    const heading = translate('rating.of', { game: title, pool: poolName(pool) });
    const about = [
      translate('rating.deviation', { deviation: Math.round(deviation) }),
      translate('rating.games', { count: games }),
      provisional && translate('rating.provisional'),
    ];
    return h(
      'section',
      { class: 'card rated', 'aria-label': heading },
      h(
        'div',
        { class: 'row' },
        h('h2', {}, heading),
        h('p', { class: 'number' }, ratingText(rating, provisional)),
      ),
      h('p', { class: 'note' }, about.filter(Boolean).join(' · ')),
      ratingGraph(series, heading),
    );
  }

  #scoreCard({ won, lost, drawn }: ProfileReply) {
    const total = won + lost + drawn;
    const part = (result: string, count: number) => {
      const bar = h('span', { 'data-result': result });
      bar.style.flexGrow = String(count);
      return count > 0 && bar;
    };
    const counts = [
      translate('profile.won', { count: won }),
      translate('profile.lost', { count: lost }),
      translate('profile.drawn', { count: drawn }),
    ];
    return h(
      'section',
      { class: 'card', 'aria-label': translate('profile.score') },
      h('h2', {}, translate('profile.games', { count: total })),
      total > 0 &&
        h(
          'div',
          { class: 'score-bar', 'aria-hidden': true },
          part('won', won),
          part('drawn', drawn),
          part('lost', lost),
        ),
      h('p', {}, formatList(counts)),
    );
  }

  #pgnLink(name: string, hasChess: boolean) {
    if (!hasChess) return null;
    const href = `/player/${encodeURIComponent(name)}.pgn?game=chess`;
    return h('p', {}, h('a', { href, download: '' }, translate('profile.records')));
  }
}

export const poolName = (pool: string) => tryTranslate(`pool.${pool}`) ?? pool;
