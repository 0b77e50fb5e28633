// The player bars above and below the board. Updates the clocks and the countdowns of absent
// players.

import { msUntilChange, clockReading } from '../model/clocks.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { translate } from '../text/language.ts';
import { isAbsent } from '../model/match.ts';
import { seatRatingText } from '../social/player-links.ts';
import { drawSeatIcon } from '../board/piece.ts';
import { Board } from '../model/position.ts';
import { playSound } from '../ui/sounds.ts';
import { PlayerBar } from './player-bar.ts';
import { formatSeconds, formatDuration, formatTimeLeft } from '../text/time.ts';
import { occupantName } from '../text/phrases.ts';

import type { Game, Seat } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** The player hears a tick for each second below this time. */
const TICK_BELOW_MS = 10_000;

/** Shorter absences are counted down in seconds. */
const SECONDS_BELOW_MS = 100_000;

export class PlayerBars {
  element = h('div', { class: 'players', role: 'group', 'aria-label': translate('players.label') });
  #app;
  #bars;
  #match: Match | null = null;
  /** The last second of our own clock that played a tick. */
  #lastTick = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, game: Game) {
    this.#app = app;
    const board = new Board(game, '');
    this.#bars = [0, 1].map((seat) => new PlayerBar(drawSeatIcon(board, seat)));
    replaceChildren(this.element, ...this.#bars.map(({ element }) => element));
  }

  /**
   * @param turn the seat to move in the shown position
   * @param below the seat below the board
   */
  show(match: Match, turn: number | null, board: Board, below: number) {
    this.#match = match;
    const tallies = match.status === 'open' ? null : conventionsOf(match.game).tally?.(board);
    this.#bars.forEach((bar, number) => bar.showTally(board, tallies?.[number]));
    this.#bars.forEach((bar, number) => {
      const seat = match.seats[number] as Seat;
      const { levels } = this.#app;
      const rating = seatRatingText(seat, match.game, levels);
      bar.show(match, number, seat, { name: occupantName(seat, levels), rating }, turn === number);
      bar.setBelowBoard(number === below);
    });
    this.updateClocks();
  }

  showChatMessage(seat: number, text: string) {
    this.#bars[seat]?.showChatMessage(text);
  }

  unmount() {
    clearTimeout(this.#timer);
    this.#match = null;
  }

  /**
   * Updates clocks and countdowns, and schedules the next update for the time when a text changes.
   */
  updateClocks() {
    clearTimeout(this.#timer);
    const match = this.#match;
    if (!match) return;
    const delaysMs = this.#bars.map((bar, number) => {
      const absenceMs = this.#updateAbsence(match, bar, number);
      return Math.min(absenceMs, this.#updateClock(match, bar, number));
    });
    const delayMs = Math.min(...delaysMs);
    if (delayMs !== Infinity) this.#timer = setTimeout(() => this.updateClocks(), delayMs);
  }

  /** @returns milliseconds until the text changes */
  #updateClock(match: Match, bar: PlayerBar, number: number): number {
    const { status: connection } = this.#app.connection;
    const reading = clockReading(match, number, performance.now());
    bar.showClock(reading, match, connection.state === 'open');
    if (!reading) return Infinity;
    if (match.you === number) this.#playTick(reading.isRunning ? reading.left : Infinity);
    return msUntilChange(reading) ?? Infinity;
  }

  /** Plays a tick for each of the last seconds, and announces when they begin. */
  #playTick(left: number) {
    const second = Math.ceil(left / 1000);
    const isNext = left <= TICK_BELOW_MS && second < this.#lastTick;
    if (isNext && this.#lastTick !== Infinity) playSound('tick');
    if (isNext && this.#lastTick * 1000 > TICK_BELOW_MS) {
      this.#app.announce(
        translate('clock.seconds', { time: formatDuration(second * 1000, 'long') }),
      );
    }
    this.#lastTick = second;
  }

  /** @returns milliseconds until the text changes */
  #updateAbsence(match: Match, bar: PlayerBar, number: number): number {
    const seat = match.seats[number];
    if (match.status === 'ended') {
      bar.showAbsence(match.rematch?.here[number] === false ? translate('players.left') : '');
      return Infinity;
    }
    const absence = match.absences[number];
    if (!seat || !isAbsent(seat) || !absence) {
      bar.showAbsence('');
      return Infinity;
    }
    const abandonAfterMs = this.#app.connection.welcome?.limits.abandon_after_ms ?? 0;
    const until =
      absence.until ?? (match.status === 'open' ? absence.since + abandonAfterMs : null);
    if (until === null) {
      bar.showAbsence(translate('players.away'));
      return Infinity;
    }
    const left = Math.max(0, until - performance.now());
    const time = left < SECONDS_BELOW_MS ? formatSeconds(left) : formatTimeLeft(left);
    const hasStandIn = match.status === 'running' && match.stand_in;
    bar.showAbsence(translate(hasStandIn ? 'players.standIn' : 'players.back', { time }));
    return left > 0 ? left % 1000 || 1000 : Infinity;
  }
}
