// The featured game of the lobby: a live match, or an offer to watch two bots. Its size is
// constant, so that the lists below do not move.

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

/** Minimum time between two moves of the bots. */
const PACE_MS = 1000;

export class FeaturedGame {
  #app;
  #names = h('p', { class: 'names' });
  #about = h('p', { class: 'about' });
  #board = h('div', { class: 'live-board' });
  #link;
  /** Sample board and button, which replace the live match. */
  #idle = h('div', { class: 'live-link' });
  #botsButton;
  #boardSvg: BoardSvg | null = null;
  #watchedId: string | null = null;
  /** Matches whose watch request failed. */
  #unwatchable = new Set<string>();
  element;

  constructor(app: App) {
    this.#app = app;
    this.#link = h(
      'a',
      { class: 'live-link' },
      this.#board,
      h('div', {}, this.#names, this.#about),
    );
    this.#botsButton = h('button', { type: 'button', onclick: () => this.#startBotMatch() });
    replaceChildren(this.#botsButton, translate('live.bots'));
    this.element = h(
      'section',
      { class: 'live', 'aria-label': translate('live.title'), hidden: true },
      this.#link,
      this.#idle,
    );
  }

  /** Forgets the watched match: a new connection follows no match. */
  reset() {
    this.#watchedId = null;
    this.#unwatchable.clear();
  }

  stop() {
    const id = this.#watchedId;
    this.#watchedId = null;
    if (id === null) return;
    this.#app.store.dispatch({ type: 'match_left', match: id });
    if (this.#app.connection.status.state !== 'open') return;
    // No code waits for the reply, and a lost request does no harm.
    this.#app.connection.request({ type: 'leave', match: id }).catch(() => {});
  }

  /**
   * Shows the watched match while it is listed, then the next one.
   * @param rows running matches of other players, newest first
   * @param isLoaded whether the server has sent the list
   */
  update(rows: ListedMatch[], isLoaded: boolean) {
    const isListed = rows.some(({ match }) => match === this.#watchedId);
    if (!isListed) {
      this.stop();
      const next = rows.find(({ match }) => !this.#unwatchable.has(match));
      if (next) void this.#watch(next.match);
    }
    const match = this.#watchedId === null ? undefined : this.#app.matches.get(this.#watchedId);
    const game = match && this.#app.game(match.game);
    this.element.hidden = this.#app.connection.isOffline || this.#app.games.length === 0;
    this.#link.hidden = !game;
    this.#idle.hidden = Boolean(game);
    if (game && match) this.#showMatch(game, match);
    else this.#showBotsOffer();
    const canOffer = isLoaded && rows.every((row) => this.#unwatchable.has(row.match));
    this.#botsButton.classList.toggle('gone', !canOffer);
  }

  async #watch(id: string) {
    if (this.#app.connection.status.state !== 'open') return;
    this.#watchedId = id;
    try {
      await this.#app.connection.request({ type: 'watch', match: id });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#unwatchable.add(id);
      if (this.#watchedId === id) this.#watchedId = null;
    }
  }

  /** Offers a match of two bots in the game that the user chose last. */
  #showBotsOffer() {
    const game =
      this.#app.game(loadLobbyPrefs().game ?? '') ?? sortByFamiliarity(this.#app.games)[0];
    if (!game || this.#idle.dataset.game === game.game) return;
    this.#idle.dataset.game = game.game;
    const board = h('div', { class: 'live-board', 'aria-hidden': true }, sampleBoardSvg(game));
    replaceChildren(this.#idle, board, this.#botsButton);
  }

  #startBotMatch() {
    const { levels } = this.#app;
    const game = this.#idle.dataset.game ?? '';
    const weakest = { bot: defaultLevel(levels) ?? '' };
    const strongest = { bot: levels.at(-1)?.level ?? '' };
    const seats: [SeatRequest, SeatRequest] = [weakest, strongest];
    void this.#app.enterMatch({ type: 'create', game, seats, pace_ms: PACE_MS, thinking: true });
  }

  #showMatch(game: Game, match: Match) {
    if (this.#board.dataset.match !== match.match) {
      this.#board.dataset.match = match.match;
      this.#boardSvg = new BoardSvg(game);
      replaceChildren(this.#board, this.#boardSvg.element);
      this.#link.setAttribute('href', `/m/${match.code}`);
    }
    this.#boardSvg?.show({ ...boardAfter(game, match, match.ply), isAnimated: true });
    setText(
      this.#names,
      match.seats.map((seat) => occupantName(seat, this.#app.levels)).join(' – '),
    );
    const about = [game.title, match.clock && formatClock(match.clock)].filter(Boolean).join(' · ');
    setText(this.#about, `${about} · ${translate('live.now')}`);
  }
}
