// A match that is being played, seen in the lobby while it goes on; where there is none, two bots are offered. It
// takes the same room from the start: what stands below does not move away from under the mouse.

import { defaultLevel, loadLobbyPrefs } from './lobby-prefs.ts';
import { RequestError } from '../net/connection.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { sortByFamiliarity } from '../model/game-order.ts';
import { translate } from '../text/language.ts';
import { BoardSvg, sampleBoardSvg } from '../board/board-svg.ts';
import { boardAfter } from '../model/board-state.ts';
import { formatClock } from '../text/time.ts';
import { occupantName } from '../text/phrases.ts';

import type { Game, ListedMatch, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** So long between two moves of the bots. */
const PACE_MS = 1000;

export class FeaturedGame {
  #app;
  #names = h('p', { class: 'names' });
  #about = h('p', { class: 'about' });
  #board = h('div', { class: 'live-board' });
  #link;
  /** What there is to be seen where nobody plays, or nobody is seen yet. */
  #idle = h('div', { class: 'live-link' });
  #bots;
  #picture: BoardSvg | null = null;
  /** The match that is watched here. */
  #watched: string | null = null;
  /** Those that could not be watched. */
  #refused = new Set();
  element;

  constructor(app: App) {
    this.#app = app;
    this.#link = h(
      'a',
      { class: 'live-link' },
      this.#board,
      h('div', {}, this.#names, this.#about),
    );
    this.#bots = h('button', { type: 'button', onclick: () => this.#haveBotsPlay() });
    replaceChildren(this.#bots, translate('live.bots'));
    this.element = h(
      'section',
      { class: 'live', 'aria-label': translate('live.title'), hidden: true },
      this.#link,
      this.#idle,
    );
  }

  /** With a new connection nothing is watched. */
  reset() {
    this.#watched = null;
    this.#refused.clear();
  }

  stop() {
    const id = this.#watched;
    this.#watched = null;
    if (id === null) return;
    this.#app.matches.delete(id);
    if (this.#app.connection.status.state !== 'open') return;
    // Nobody waits for it, and nothing is lost if it does not arrive.
    this.#app.connection.request({ type: 'leave', match: id }).catch(() => {});
  }

  /**
   * Shows the newest of these, as long as it is played.
   * @param rows those of others that are played
   * @param isKnown whether it has been told which there are
   */
  update(rows: ListedMatch[], isKnown: boolean) {
    const stays = rows.some(({ match }) => match === this.#watched);
    if (!stays) {
      this.stop();
      const next = rows.find(({ match }) => !this.#refused.has(match));
      if (next) void this.#watch(next.match);
    }
    const match = this.#watched === null ? undefined : this.#app.matches.get(this.#watched);
    const game = match && this.#app.game(match.game);
    this.element.hidden = this.#app.connection.isOffline || this.#app.games.length === 0;
    this.#link.hidden = !game;
    this.#idle.hidden = Boolean(game);
    if (game && match) this.#show(game, match);
    else this.#offerBots();
    const isIdle = isKnown && rows.every((row) => this.#refused.has(row.match));
    this.#bots.classList.toggle('gone', !isIdle);
  }

  async #watch(id: string) {
    if (this.#app.connection.status.state !== 'open') return;
    this.#watched = id;
    try {
      await this.#app.connection.request({ type: 'watch', match: id });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#refused.add(id);
      if (this.#watched === id) this.#watched = null;
    }
  }

  /** The game that one has chosen last is what two bots would play. */
  #offerBots() {
    const game =
      this.#app.game(loadLobbyPrefs().game ?? '') ?? sortByFamiliarity(this.#app.games)[0];
    if (!game || this.#idle.dataset.game === game.game) return;
    this.#idle.dataset.game = game.game;
    const board = h('div', { class: 'live-board', 'aria-hidden': true }, sampleBoardSvg(game));
    replaceChildren(this.#idle, board, this.#bots);
  }

  #haveBotsPlay() {
    const { levels } = this.#app;
    const game = this.#idle.dataset.game ?? '';
    const weakest = { bot: defaultLevel(levels) ?? '' };
    const strongest = { bot: levels.at(-1)?.level ?? '' };
    const seats: [SeatRequest, SeatRequest] = [weakest, strongest];
    void this.#app.enterMatch({ type: 'create', game, seats, pace_ms: PACE_MS, thinking: true });
  }

  #show(game: Game, match: Match) {
    if (this.#board.dataset.match !== match.match) {
      this.#board.dataset.match = match.match;
      this.#picture = new BoardSvg(game);
      replaceChildren(this.#board, this.#picture.element);
      this.#link.setAttribute('href', `/m/${match.code}`);
    }
    this.#picture?.show({ ...boardAfter(game, match, match.ply), isAnimated: true });
    setText(
      this.#names,
      match.seats.map((seat) => occupantName(seat, this.#app.levels)).join(' – '),
    );
    const about = [game.title, match.clock && formatClock(match.clock)].filter(Boolean).join(' · ');
    setText(this.#about, `${about} · ${translate('live.now')}`);
  }
}
