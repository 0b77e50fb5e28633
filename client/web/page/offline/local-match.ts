// A match that is played without a server: what it tells is what a server would tell of it.

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

/** Who plays here. There is nobody else. */
export const LOCAL_PLAYER_ID = 'alone';

/** How several games in a row stand. */
export interface Series {
  game: number;
  points: [number, number];
}
export interface LocalMatchOptions {
  id: string;
  game: string;
  sides: [string, string];
  seats: [SeatRequest, SeatRequest];
  /** of whoever plays */
  name: string;
  takeback: boolean;
  /** how long a bot waits at least, in milliseconds */
  pace: number;
  /** where a bot has its luck from: no game is like another */
  seed: number;
  /** how it stood before this one */
  series?: Series;
  previous?: string;
}

export class LocalMatch {
  options;
  #standing: GameState;
  #outcome: Outcome | undefined;
  #takebacks;
  #seq = 0;
  /** What has been told, from the first. */
  events: MatchEvent[] = [];
  next: { match: string; code: string } | null = null;
  #engine;
  #seats;
  endedAt = 0;

  /**
   * Fails with what is wrong with the moves.
   * @param before what has happened in it
   */
  constructor(
    engine: Engine,
    terms: LocalMatchOptions,
    { moves, takebacks }: { moves: string[]; takebacks: number } = { moves: [], takebacks: 0 },
  ) {
    this.#engine = engine;
    this.options = terms;
    this.#takebacks = takebacks;
    this.#standing = engine.query({ game: terms.game, moves: [] });
    this.#seats = terms.seats.map((wish, seat) => this.#seat(wish, seat)) as [Seat, Seat];
    this.#seats.forEach((occupant, seat) => this.#tell({ type: 'seated', seat, ...occupant }));
    this.#tell({ type: 'started', ...this.#stands(), ply: 0 });
    for (const move of moves) this.play(move);
  }

  #seat(wish: SeatRequest, seat: number): Seat {
    const side = this.options.sides[seat] ?? '';
    if (typeof wish === 'object') return { occupant: 'bot', level: wish.bot, side };
    return {
      occupant: 'player',
      player: LOCAL_PLAYER_ID,
      name: this.options.name,
      connected: true,
      side,
    };
  }

  /** The seat of whoever plays here; `null` if two bots play. */
  get you() {
    const seat = this.options.seats.indexOf('me');
    return seat < 0 ? null : seat;
  }

  get isOver() {
    return this.#outcome !== undefined;
  }

  get ply() {
    return this.#standing.moves.length;
  }

  get turn() {
    return this.#standing.turn;
  }

  /** The level of the bot that is to move; `null` if it is a person. */
  get botToMove() {
    const wish = this.turn === null ? undefined : this.options.seats[this.turn];
    return !this.isOver && typeof wish === 'object' ? wish.bot : null;
  }

  /** Plays a move. Fails with what is wrong with it. */
  play(move: string) {
    const { game } = this.options;
    this.#become(this.#engine.query({ game, moves: [...this.#standing.moves, move] }));
  }

  /** Has the bot play whose turn it is. */
  playBotMove() {
    const { game } = this.options;
    const { moves } = this.#standing;
    const level = this.botToMove ?? undefined;
    this.#become(this.#engine.query({ game, moves, level, seed: this.options.seed }));
  }

  /** Goes back to this ply. */
  takeBack(ply: number) {
    const moves = this.#standing.moves.slice(0, ply);
    this.#standing = this.#engine.query({ game: this.options.game, moves });
    this.#takebacks += 1;
    this.#tell({ type: 'taken_back', ply, ...this.#stands(), takebacks: this.#takebacks });
  }

  /** All that is needed to go on with it. */
  toOfflineGame(): OfflineGame {
    const { id, game, seats, takeback, pace, seed, series } = this.options;
    const so = { id, game, seats, takeback, pace, seed, ...(series ? { series } : {}) };
    return { ...so, moves: this.#standing.moves, takebacks: this.#takebacks };
  }

  end(outcome: Outcome) {
    this.#outcome = outcome;
    this.endedAt = Date.now();
    this.#tell({ type: 'ended', outcome });
  }

  #become(standing: GameState) {
    const ply = this.ply;
    const seat = this.turn as number;
    this.#standing = standing;
    const move = standing.moves[ply] ?? '';
    const { position, turn, legal } = standing;
    this.#tell({ type: 'moved', ply, next_ply: ply + 1, seat, move, position, turn, legal });
    const { outcome } = standing;
    if (outcome) this.end({ ...outcome, reason: 'rules' });
  }

  #stands() {
    const { position, turn, legal } = this.#standing;
    return { position, turn: turn ?? 0, legal };
  }

  #tell(event: OmitFromUnion<MatchEvent, 'match' | 'seq'>) {
    this.#seq += 1;
    this.events.push({ ...event, match: this.options.id, seq: this.#seq });
  }

  /** How the series stands with this match. */
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

  /** How the series stands for the match after this one, in which seats are swapped. */
  nextSeries() {
    const { game, points } = this.#series().series ?? { game: 1, points: this.#alone() };
    return { game: game + 1, points: [points[1], points[0]] as [number, number] };
  }

  /** What this match alone has brought, in half-points. */
  #alone() {
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
    const { position, moves, legal } = this.#standing;
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
