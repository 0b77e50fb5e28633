// Runs a match in the browser. It produces the snapshots and events of the protocol.

import type {
  MatchEvent,
  Outcome,
  RematchState,
  Seat,
  SeatRequest,
  Snapshot,
  OmitFromUnion,
} from '../net/protocol.ts';
import type { OfflineGame } from './offline-games.ts';
import type { Engine, GameState } from './engine.ts';

/** Player ID of the only player. */
export const LOCAL_PLAYER_ID = 'alone';

/** Score of a series of rematches. */
export interface Series {
  game: number;
  points: [number, number];
}
export interface LocalMatchOptions {
  id: string;
  game: string;
  sides: [string, string];
  seats: [SeatRequest, SeatRequest];
  /** name of the player */
  name: string;
  takeback: boolean;
  /** minimum delay of a bot move, in milliseconds */
  pace: number;
  /** seed of the bot's random choices */
  seed: number;
  /** score before this match */
  series?: Series;
  previous?: string;
}

export class LocalMatch {
  options;
  #state: GameState;
  #outcome: Outcome | undefined;
  #takebacks;
  #seq = 0;
  /** All events, from the first. */
  events: MatchEvent[] = [];
  next: { match: string; code: string } | null = null;
  #engine;
  #seats;
  endedAt = 0;

  /** Replays the moves of a stored game. Throws an error if a move is illegal. */
  constructor(
    engine: Engine,
    options: LocalMatchOptions,
    { moves, takebacks }: Pick<OfflineGame, 'moves' | 'takebacks'> = { moves: [], takebacks: 0 },
  ) {
    this.#engine = engine;
    this.options = options;
    this.#takebacks = takebacks;
    this.#state = engine.query({ game: options.game, moves: [] });
    this.#seats = options.seats.map((request, seat) => this.#occupantOf(request, seat)) as [
      Seat,
      Seat,
    ];
    this.#seats.forEach((occupant, seat) => this.#emit({ type: 'seated', seat, ...occupant }));
    this.#emit({ type: 'started', ...this.#turnState(), ply: 0 });
    for (const move of moves) this.play(move);
  }

  #occupantOf(request: SeatRequest, seat: number): Seat {
    const side = this.options.sides[seat] ?? '';
    if (typeof request === 'object') return { occupant: 'bot', level: request.bot, side };
    return {
      occupant: 'player',
      player: LOCAL_PLAYER_ID,
      name: this.options.name,
      connected: true,
      side,
    };
  }

  /** Seat of the player; `null` if two bots play. */
  get you() {
    const seat = this.options.seats.indexOf('me');
    return seat < 0 ? null : seat;
  }

  get isOver() {
    return this.#outcome !== undefined;
  }

  get ply() {
    return this.#state.moves.length;
  }

  get turn() {
    return this.#state.turn;
  }

  /** Level of the bot whose turn it is; `null` if no bot is to move. */
  get botToMove() {
    const seat = this.turn === null ? undefined : this.options.seats[this.turn];
    return !this.isOver && typeof seat === 'object' ? seat.bot : null;
  }

  /** Plays a move. Throws an error if it is illegal. */
  play(move: string) {
    const { game } = this.options;
    this.#applyMove(this.#engine.query({ game, moves: [...this.#state.moves, move] }));
  }

  /** Plays a move of the bot whose turn it is. */
  playBotMove() {
    const { game } = this.options;
    const { moves } = this.#state;
    const level = this.botToMove ?? undefined;
    this.#applyMove(this.#engine.query({ game, moves, level, seed: this.options.seed }));
  }

  takeBack(ply: number) {
    const moves = this.#state.moves.slice(0, ply);
    this.#state = this.#engine.query({ game: this.options.game, moves });
    this.#takebacks += 1;
    this.#emit({ type: 'taken_back', ply, ...this.#turnState(), takebacks: this.#takebacks });
  }

  /** Returns the data that is stored to resume the game. */
  toOfflineGame(): OfflineGame {
    const { id, game, seats, takeback, pace, seed, series } = this.options;
    return {
      ...{ id, game, seats, takeback, pace, seed, ...(series ? { series } : {}) },
      ...{ moves: this.#state.moves, takebacks: this.#takebacks },
    };
  }

  end(outcome: Outcome) {
    this.#outcome = outcome;
    this.endedAt = Date.now();
    this.#emit({ type: 'ended', outcome });
  }

  #applyMove(state: GameState) {
    const ply = this.ply;
    const seat = this.turn as number;
    this.#state = state;
    const move = state.moves[ply] ?? '';
    const { position, turn, legal } = state;
    this.#emit({ type: 'moved', ply, next_ply: ply + 1, seat, move, position, turn, legal });
    const { outcome } = state;
    if (outcome) this.end({ ...outcome, reason: 'rules' });
  }

  #turnState() {
    const { position, turn, legal } = this.#state;
    return { position, turn: turn ?? 0, legal };
  }

  #emit(event: OmitFromUnion<MatchEvent, 'match' | 'seq'>) {
    this.#seq += 1;
    this.events.push({ ...event, match: this.options.id, seq: this.#seq });
  }

  /** Score of the series, including this match if it is over. */
  #series() {
    const { series } = this.options;
    if (!series) return {};
    const { winner = null } = this.#outcome ?? {};
    const points = series.points.map((before, seat) => {
      if (!this.isOver) return before;
      return before + (winner === null ? 1 : winner === seat ? 2 : 0);
    });
    return { series: { ...series, points: points as [number, number] } };
  }

  /** Score of the series for the next match. The seats are swapped. */
  nextSeries() {
    const { game, points } = this.#series().series ?? { game: 1, points: this.#points() };
    return { game: game + 1, points: [points[1], points[0]] as [number, number] };
  }

  /** Result of this match in half-points. */
  #points() {
    const winner = this.#outcome?.winner;
    return [0, 1].map((seat) => (winner === null ? 1 : winner === seat ? 2 : 0));
  }

  rematchState(): RematchState {
    return {
      offers: [false, false],
      declined: [false, false],
      here: [true, true],
      next: this.next,
    };
  }

  snapshot(): Snapshot {
    const { id, game, takeback, previous } = this.options;
    const { position, moves, legal } = this.#state;
    return {
      ...{ type: 'match', match: id, code: id, seq: this.#seq, game },
      status: this.isOver ? 'ended' : 'running',
      ...{
        host: LOCAL_PLAYER_ID,
        listed: false,
        watch: 'nobody',
        you: this.you,
        seats: this.#seats,
      },
      ...{ position, ply: this.ply, turn: this.isOver ? null : this.turn, moves },
      ...{ legal: this.isOver ? [] : legal, spectators: 0, offers: [], takeback },
      ...{ takebacks: this.#takebacks, ...this.#series(), ...(previous ? { previous } : {}) },
      said: [],
      ...(this.#outcome ? { outcome: this.#outcome, rematch: this.rematchState() } : {}),
    };
  }
}
