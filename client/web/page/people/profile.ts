// What one can know of a player: how strong they are, what they have won and lost, and their last games.

import { Refusal } from '../net/connection.ts';
import { fill, h } from '../ui/dom.ts';
import { day, known, list, say } from '../text/language.ts';
import { titleOfGame } from '../text/labels.ts';
import { ratingWords } from '../social/player-links.ts';
import { Section } from '../lobby/match-rows.ts';
import { refusalText } from '../text/phrases.ts';
import { toldOver } from '../account/game-history.ts';
import { blockButton } from './block-button.ts';
import { challengeDialog } from '../social/challenge-dialog.ts';
import { ratingGraph } from './rating-graph.ts';

import type { PoolRating, Profile as Told } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export class Profile {
  #app;
  #name;
  #told: Told | null = null;
  /** What is drawn; with each new connection it is asked again. */
  #drawn = '';
  element = h('div', { class: 'you profile' }, h('p', { role: 'status' }, say('page.loading')));

  constructor(app: App, name: string) {
    this.#app = app;
    this.#name = name;
  }

  title() {
    return `${this.#told?.player.name ?? this.#name} – Plyhouse`;
  }

  update() {}

  welcomed() {
    void this.#ask();
  }

  leave() {}

  async #ask() {
    try {
      this.#told = await this.#app.connection.ask({ type: 'profile', name: this.#name });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // With the next connection it is asked again.
      if (error.code !== 'lost') this.#refuse(error);
      return;
    }
    if (this.#told) this.#draw(this.#told);
    this.#app.update();
  }

  #refuse(refusal: Refusal) {
    this.#drawn = '';
    fill(
      this.element,
      h(
        'div',
        { class: 'empty' },
        h('h1', {}, refusalText(refusal)),
        h('p', {}, h('a', { class: 'button', href: '/' }, say('page.lobby'))),
      ),
    );
  }

  #draw(told: Told) {
    const drawn = JSON.stringify([told, this.#app.player?.id, this.#app.games.length]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const { player, ratings, last } = told;
    const go = ({ match }: { match: string }) => this.#app.go(`/m/${match}`);
    const rows = new Section(say('profile.last'), say('profile.none'), go);
    rows.show(last.map((row) => toldOver(this.#app, row)));
    const rated = ratings.filter(({ games }) => games > 0);
    fill(
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
      player.bot && say('profile.bot'),
      since_ms !== undefined && say('profile.since', { date: day(since_ms) }),
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
          { type: 'button', class: 'primary', onclick: () => challengeDialog(this.#app, person) },
          say('profile.challenge'),
        ),
      !isSelf && blockButton(this.#app, person),
      isSelf && h('a', { class: 'button', href: '/games' }, say('games.title')),
    );
  }

  #rating({ game, pool, rating, deviation, provisional, games, series }: PoolRating) {
    const title = titleOfGame(this.#app.games, game);
    const of = say('rating.of', { game: title, pool: poolWords(pool) });
    const about = [
      say('rating.deviation', { deviation: Math.round(deviation) }),
      say('rating.games', { count: games }),
      provisional && say('rating.provisional'),
    ];
    return h(
      'section',
      { class: 'card rated', 'aria-label': of },
      h(
        'div',
        { class: 'row' },
        h('h2', {}, of),
        h('p', { class: 'number' }, ratingWords(rating, provisional)),
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
      say('profile.won', { count: won }),
      say('profile.lost', { count: lost }),
      say('profile.drawn', { count: drawn }),
    ];
    return h(
      'section',
      { class: 'card', 'aria-label': say('profile.score') },
      h('h2', {}, say('profile.games', { count: all })),
      all > 0 &&
        h(
          'div',
          { class: 'score-bar', 'aria-hidden': true },
          part('won', won),
          part('drawn', drawn),
          part('lost', lost),
        ),
      h('p', {}, list(words)),
    );
  }

  #records(name: string, hasChess: boolean) {
    if (!hasChess) return null;
    const href = `/player/${encodeURIComponent(name)}.pgn?game=chess`;
    return h('p', {}, h('a', { href, download: '' }, say('profile.records')));
  }
}

export const poolWords = (pool: string) => known(`pool.${pool}`) ?? pool;
