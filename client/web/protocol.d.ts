// What goes over the wire, as src/protocol/PROTOCOL.md tells it; only what the page reads or writes.

export type Status = 'open' | 'running' | 'ended';

export type Occupant =
  | { occupant: 'open' }
  | { occupant: 'player'; player: string; name: string; connected: boolean }
  | { occupant: 'bot'; level: string };

export type Seat = Occupant & { side: string };

export interface Outcome {
  winner: number | null;
  // rules, resignation, abandonment, aborted; a later server knows more
  reason: string;
  line?: string[];
  detail?: string;
  scores?: [number, number];
}

export interface Game {
  game: string;
  title: string;
  sides: [string, string];
  files: number;
  ranks: number;
  record?: string;
}

export interface Level {
  level: string;
  title: string;
}

export interface Welcome {
  type: 'welcome';
  re?: number;
  player: { id: string; name: string };
  token: string;
  resumed: boolean;
  games: Game[];
  levels: Level[];
  limits: { live_matches: number; abandon_after_ms: number; idle_ms: number };
  following: { match: string; you: number | null }[];
}

export interface Snapshot {
  type: 'match';
  re?: number;
  match: string;
  code: string;
  seq: number;
  game: string;
  status: Status;
  host: string;
  listed: boolean;
  you: number | null;
  seats: [Seat, Seat];
  position: string;
  ply: number;
  turn: number | null;
  moves: string[];
  legal: string[];
  spectators: number;
  outcome?: Outcome;
}

interface Numbered {
  match: string;
  seq: number;
}
export type Seated = Numbered & { type: 'seated'; seat: number } & Occupant;
export interface Started extends Numbered {
  type: 'started';
  position: string;
  ply: number;
  turn: number;
  legal: string[];
}
export interface Moved extends Numbered {
  type: 'moved';
  ply: number;
  seat: number;
  move: string;
  position: string;
  turn: number | null;
  legal: string[];
}
export interface Ended extends Numbered {
  type: 'ended';
  outcome: Outcome;
}
export type MatchEvent = Seated | Started | Moved | Ended;

export interface Presence {
  type: 'presence';
  match: string;
  seats: (boolean | null)[];
  spectators: number;
}

export interface Listed {
  match: string;
  code: string;
  game: string;
  status: Status;
  seats: [Seat, Seat];
  ply: number;
  spectators: number;
}
export interface Matches {
  type: 'matches';
  re?: number;
  total: number;
  matches: Listed[];
}
export interface Events {
  type: 'events';
  re?: number;
  match: string;
  events: MatchEvent[];
}
export interface Ok {
  type: 'ok';
  re?: number;
  seq?: number;
}
export interface Pong {
  type: 'pong';
  re?: number;
}
export interface Failure {
  type: 'error';
  re?: number;
  code: string;
  message: string;
  retryable: boolean;
  retry_after_ms?: number;
  field?: string;
}

export type Message =
  Welcome | Snapshot | MatchEvent | Presence | Matches | Events | Ok | Pong | Failure;

export type SeatWish = 'me' | 'open' | { bot: string };
type OneMatch = { match: string };

export type Request =
  | { type: 'hello'; protocol: 1; name?: string; token?: string }
  | { type: 'ping' }
  | {
      type: 'create';
      game: string;
      seats: SeatWish[];
      listed?: boolean;
      shuffle?: boolean;
      pace_ms?: number;
    }
  | ({ type: 'join'; seat?: number } & OneMatch)
  | ({ type: 'watch' | 'leave' | 'resign' } & OneMatch)
  | ({ type: 'seat'; seat: number; occupant: 'open' | { bot: string } } & OneMatch)
  | ({ type: 'move'; ply: number; move: string } & OneMatch)
  | { type: 'list'; game?: string; status?: Status; limit?: number; after?: string }
  | { type: 'seek'; game: string; bot?: string; bot_after_ms?: number }
  | { type: 'unseek' }
  | ({ type: 'resync'; since: number } & OneMatch);
