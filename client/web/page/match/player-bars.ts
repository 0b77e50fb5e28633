// The two seats, one above the board and one below: who sits there, whose turn it is, who is gone.

import { msUntilChange, clockReading } from '../model/clocks.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { translate } from '../text/language.ts';
import { isAbsent } from '../model/match.ts';
import { seatRatingText } from '../social/player-links.ts';
import { drawSeatIcon } from '../board/piece.ts';
import { Board } from '../model/position.ts';
import { playSound as sound } from '../ui/sounds.ts';
import { PlayerBar } from './player-bar.ts';
import { formatSeconds, formatDuration, formatTimeLeft } from '../text/time.ts';
import { occupantName } from '../text/phrases.ts';

import type { Game, Seat } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** Within the last so many milliseconds each second is heard by whose they are. */
const TICKS_MS = 10_000;

/** What is shorter is told in seconds. */
const SECONDS_MS = 100_000;

export class PlayerBars {
  element = h('div', { class: 'players', role: 'group', 'aria-label': translate('players.label') });
  #app;
  #strips;
  #match: Match | null = null;
  /** The second of our own clock that was heard last. */
  #heard = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, game: Game) {
    this.#app = app;
    const board = new Board(game, '');
    this.#strips = [0, 1].map((seat) => new PlayerBar(drawSeatIcon(board, seat)));
    replaceChildren(this.element, ...this.#strips.map(({ element }) => element));
  }

  /**
   * @param turn whose turn it is, as far as one sees
   * @param board the one that is shown
   * @param below who is seen below the board
   */
  show(match: Match, turn: number | null, board: Board, below: number) {
    this.#match = match;
    const tallies = match.status === 'open' ? null : conventionsOf(match.game).tally?.(board);
    this.#strips.forEach((strip, number) => strip.showTally(board, tallies?.[number]));
    this.#strips.forEach((strip, number) => {
      const seat = match.seats[number] as Seat;
      const { levels } = this.#app;
      const rating = seatRatingText(seat, match.game, levels);
      strip.show(
        match,
        number,
        seat,
        { name: occupantName(seat, levels), rating },
        turn === number,
      );
      strip.setBelowBoard(number === below);
    });
    this.updateClocks();
  }

  /** Shows for a while what somebody says. */
  showChatMessage(seat: number, text: string) {
    this.#strips[seat]?.showChatMessage(text);
  }

  /** Counts no more. */
  unmount() {
    clearTimeout(this.#timer);
    this.#match = null;
  }

  /** Shows the clocks, and counts down for those who are gone, until the next change of what is shown. */
  updateClocks() {
    clearTimeout(this.#timer);
    const match = this.#match;
    if (!match) return;
    const waits = this.#strips.map((strip, number) => {
      const away = this.#tickAway(match, strip, number);
      return Math.min(away, this.#tickClock(match, strip, number));
    });
    const wait = Math.min(...waits);
    if (wait !== Infinity) this.#timer = setTimeout(() => this.updateClocks(), wait);
  }

  /** @returns in how many milliseconds it changes */
  #tickClock(match: Match, strip: PlayerBar, number: number): number {
    const { status: link } = this.#app.connection;
    const shown = clockReading(match, number, performance.now());
    strip.showClock(shown, match, link.state === 'open');
    if (!shown) return Infinity;
    if (match.you === number) this.#hear(shown.isRunning ? shown.left : Infinity);
    return msUntilChange(shown) ?? Infinity;
  }

  /** Lets our last seconds be heard. */
  #hear(left: number) {
    const second = Math.ceil(left / 1000);
    const isNext = left <= TICKS_MS && second < this.#heard;
    if (isNext && this.#heard !== Infinity) sound('tick');
    if (isNext && this.#heard * 1000 > TICKS_MS) {
      this.#app.announce(
        translate('clock.seconds', { time: formatDuration(second * 1000, 'long') }),
      );
    }
    this.#heard = second;
  }

  /** @returns in how many milliseconds it changes */
  #tickAway(match: Match, strip: PlayerBar, number: number): number {
    const seat = match.seats[number];
    if (match.status === 'ended') {
      strip.showAbsence(match.rematch?.here[number] === false ? translate('players.left') : '');
      return Infinity;
    }
    const gone = match.absences[number];
    if (!seat || !isAbsent(seat) || !gone) {
      strip.showAbsence('');
      return Infinity;
    }
    const patience = this.#app.connection.welcome?.limits.abandon_after_ms ?? 0;
    const until = gone.until ?? (match.status === 'open' ? gone.since + patience : null);
    if (until === null) {
      strip.showAbsence(translate('players.away'));
      return Infinity;
    }
    const left = Math.max(0, until - performance.now());
    const time = left < SECONDS_MS ? formatSeconds(left) : formatTimeLeft(left);
    const isStoodIn = match.status === 'running' && match.stand_in;
    strip.showAbsence(translate(isStoodIn ? 'players.standIn' : 'players.back', { time }));
    return left > 0 ? left % 1000 || 1000 : Infinity;
  }
}
