// What goes over the wire, as src/protocol/PROTOCOL.md tells it; only what the page reads or writes.

export type Status = 'open' | 'running' | 'ended';

// Who may watch a match beside its players.
export type WatchedBy = 'anyone' | 'code' | 'nobody';

export type Occupant =
  | { occupant: 'open' }
  | {
      occupant: 'player';
      player: string;
      name: string;
      connected: boolean;
      // The name is one's own; and a program's.
      account?: boolean;
      bot?: boolean;
      rating?: number;
      provisional?: boolean;
    }
  | { occupant: 'bot'; level: string; for?: Person };

export interface Person {
  player: string;
  name: string;
}

export type Clock =
  | { kind: 'fischer'; main_ms: number; increment_ms: number }
  | { kind: 'delay'; main_ms: number; delay_ms: number }
  | { kind: 'byo-yomi'; main_ms: number; period_ms: number; periods: number }
  | { kind: 'move'; move_ms: number };

// What both seats have left, as of the begin of the present turn.
export interface TimeLeft {
  left_ms: [number, number];
  periods?: [number, number];
}

export type OfferKind = 'draw' | 'takeback' | 'rematch' | 'challenge';

export interface StandingOffer {
  seat: number;
  offer: OfferKind;
  ply: number;
  to_ply?: number;
}

export interface RematchState {
  offers: [boolean, boolean];
  declined: [boolean, boolean];
  here: [boolean, boolean];
  next: { match: string; code: string } | null;
}

export type Seat = Occupant & { side: string };

export interface Outcome {
  winner: number | null;
  // rules, resignation, abandonment, timeout, agreement, aborted; a later server knows more
  reason: string;
  line?: string[];
  detail?: string;
  by?: number;
  scores?: [number, number];
}

export interface Game {
  game: string;
  title: string;
  sides: [string, string];
  files: number;
  ranks: number;
  record?: string;
  draws: boolean;
}

export interface Level {
  level: string;
  title: string;
  // By game.
  rating?: Record<string, number>;
}

// Who one is; `account`: the name is one's own.
export interface Player {
  id: string;
  name: string;
  account?: boolean;
  bot?: boolean;
}

export interface Preset {
  preset: string;
  text: string;
}

// What somebody has said; `seat` is null for a spectator.
export interface Said {
  seat: number | null;
  name: string;
  preset?: string;
  text?: string;
}

export interface Welcome {
  type: 'welcome';
  re?: number;
  ignored?: string[];
  player: Player;
  // Who may sign up; absent where nobody may.
  accounts?: string;
  token: string;
  session: string;
  resumed: boolean;
  games: Game[];
  levels: Level[];
  limits: {
    live_matches: number;
    abandon_after_ms: number;
    idle_ms: number;
    days_matches: number;
    bot_think_ms: number;
  };
  clocks: { title: string; clock: Clock }[];
  following: Followed[];
  challenges: ChallengeRow[];
  chat?: 'presets' | 'text' | 'off';
  presets?: Preset[];
  // Who may have an ended match analysed.
  analysis?: 'players' | 'anyone' | 'off';
}

export interface Followed {
  match: string;
  you: number | null;
  stood_in?: number;
  // The rest is there for matches of days.
  days?: true;
  turn?: number | null;
  due_ms?: number;
}

export interface ChallengeRow {
  match: string;
  code: string;
  game: string;
  clock: Clock | null;
  rated: boolean;
  from_position?: true;
  seat: number;
  from: Person;
}

export interface Snapshot extends Partial<TimeLeft> {
  type: 'match';
  re?: number;
  ignored?: string[];
  match: string;
  code: string;
  seq: number;
  game: string;
  status: Status;
  host: string;
  listed: boolean;
  watch: WatchedBy;
  // So much later those see it who have no seat.
  delay_ms?: number;
  you: number | null;
  seats: [Seat, Seat];
  position: string;
  // Whether the king of the side to move is attacked, here and in events.
  check?: true;
  ply: number;
  turn: number | null;
  moves: string[];
  // `moves` in standard algebraic notation, in chess.
  san?: string[];
  legal: string[];
  spectators: number;
  clock?: Clock;
  turn_ms?: number;
  stands?: boolean;
  first_move_ms?: number;
  patience_ms?: number;
  offers: StandingOffer[];
  takeback: boolean;
  takebacks: number;
  stand_in?: string;
  series?: { game: number; points: [number, number] };
  previous?: string;
  rematch?: RematchState;
  outcome?: Outcome;
  said?: Said[];
  rated?: true;
  thinking?: true;
  // The position with which it began, where that is not the first of the game.
  start?: string;
  // What a rated match has changed, once that is known.
  changes?: RatingChange[];
}
export interface RatingChange {
  seat: number;
  before: number;
  after: number;
  provisional: boolean;
}
export interface RatingTold {
  type: 'rating';
  match: string;
  changes: RatingChange[];
  why?: string;
}

interface Numbered {
  match: string;
  seq: number;
}
export type Seated = Numbered & { type: 'seated'; seat: number } & Occupant;
export interface Started extends Numbered, Partial<TimeLeft> {
  type: 'started';
  position: string;
  check?: true;
  ply: number;
  turn: number;
  legal: string[];
  first_move_ms?: number;
  patience_ms?: number;
}
export interface Moved extends Numbered, Partial<TimeLeft> {
  type: 'moved';
  ply: number;
  next_ply: number;
  seat: number;
  move: string;
  san?: string;
  position: string;
  check?: true;
  turn: number | null;
  legal: string[];
  spent_ms?: number;
  first_move_ms?: number;
}
export type Offered = Numbered & { type: 'offered' } & StandingOffer;
export interface Declined extends Numbered {
  type: 'declined';
  seat: number;
  offer: OfferKind;
  by: number;
}
export interface TakenBack extends Numbered, Partial<TimeLeft> {
  type: 'taken_back';
  ply: number;
  position: string;
  check?: true;
  turn: number;
  legal: string[];
  first_move_ms?: number;
  takebacks: number;
}
export interface TimeGiven extends Numbered, TimeLeft {
  type: 'time_given';
  seat: number;
  ms: number;
}
export interface Hinted extends Numbered {
  type: 'hinted';
  seat: number;
  ply: number;
}
export interface Ended extends Numbered, Partial<TimeLeft> {
  type: 'ended';
  outcome: Outcome;
}
export type MatchEvent =
  Seated | Started | Moved | Offered | Declined | TakenBack | TimeGiven | Hinted | Ended;

export interface Presence {
  type: 'presence';
  match: string;
  seats: (boolean | null)[];
  gone_ms: (number | null)[];
  spectators: number;
}

export interface ClockTold extends TimeLeft {
  type: 'clock';
  match: string;
  ply: number;
  turn_ms: number;
  stands: boolean;
  first_move_ms?: number;
}
export interface RematchTold extends RematchState {
  type: 'rematch';
  match: string;
}
export interface SaidTold extends Said {
  type: 'said';
  match: string;
}
export interface YourTurn {
  type: 'your_turn';
  match: string;
  game: string;
  ply: number;
  due_ms: number;
}
export interface Challenge extends ChallengeRow {
  type: 'challenge';
}
export interface ChallengeOver {
  type: 'challenge_over';
  match: string;
}
export interface WatchOver {
  type: 'watch_over';
  match: string;
}
export interface ListChanged {
  type: 'list_changed';
  changed: Listed[];
  gone: string[];
  total: number;
  reset?: true;
}

// Whoever looks for an opponent: at most 50 of `total`, who has waited longest first.
export interface Seekers {
  type: 'seekers';
  total: number;
  rows: Seeker[];
}
export interface Seeker {
  player: Player;
  rating?: number;
  provisional?: boolean;
  game: string;
  clock: Clock | null;
  rated: boolean;
}

export interface Listed {
  match: string;
  code: string;
  game: string;
  status: Status;
  seats: [Seat, Seat];
  ply: number;
  spectators: number;
  clock?: Clock;
  rated?: boolean;
  // It begins with another position than the first of its game; so in the rows below.
  from_position?: true;
}
export interface Matches {
  type: 'matches';
  re?: number;
  ignored?: string[];
  total: number;
  matches: Listed[];
  // If that was asked for.
  seekers?: Omit<Seekers, 'type'>;
}
// An ended match of a player, by whose seat `you` goes.
export interface HistoryRow {
  match: string;
  code: string;
  game: string;
  seats: [Seat, Seat];
  outcome: Outcome;
  plies: number;
  clock?: Clock;
  rated: boolean;
  from_position?: true;
  you: number;
  ended_ms: number;
}
export interface History {
  type: 'history';
  re?: number;
  ignored?: string[];
  rows: HistoryRow[];
  more: boolean;
}
// How strong a player is in a pool; `series` has a day and the rating at its end.
export interface PoolRating {
  game: string;
  pool: string;
  rating: number;
  deviation: number;
  provisional: boolean;
  games: number;
  series: [string, number][];
}
export interface Profile {
  type: 'profile';
  re?: number;
  ignored?: string[];
  player: { id: string; name: string; account?: boolean; bot?: boolean };
  since_ms?: number;
  ratings: PoolRating[];
  won: number;
  lost: number;
  drawn: number;
  last: HistoryRow[];
}
export interface LeaderRow {
  place: number;
  player: Player;
  rating: number;
  deviation: number;
  games: number;
}
export interface Leaders {
  type: 'leaders';
  re?: number;
  ignored?: string[];
  total: number;
  rows: LeaderRow[];
}
// What a position is worth to seat 0, whoever is to move; `win` is from 0 to 1.
export interface Valuation {
  value: number;
  win: number;
  exact: boolean;
  // Who wins, in how many plies, by how many points: where it is known.
  wins?: number;
  in?: number;
  points?: number;
}
export interface Why {
  // allows_win, misses_win, loses_points, loses_material, misses_material, loses_ground; a later server knows more
  kind: string;
  better: string;
  keeps: 'win' | 'draw' | 'game' | 'loss';
  in?: number;
  points?: number;
  material?: number;
  signs?: Sign[];
  line: string[];
  punished: string[];
  // Whether the match is not over after that.
  goes_on?: boolean;
  // `punished` in standard algebraic notation, in chess; so beside each `pv`.
  san?: string[];
}
// What is to be seen of it on the board: corner, mobility, captured, atari, lost, open_three, two_threats, drawn,
// edge, apart;
// a later server knows more.
export interface Sign {
  sign: string;
  count?: number;
  instead?: number;
}
export interface AnalysedPly extends Valuation {
  ply: number;
  seat: number;
  move: string;
  best: string;
  pv: string[];
  san?: string[];
  judged?: 'inaccuracy' | 'mistake' | 'blunder';
  why?: Why;
  // The same in English.
  said?: string;
}
// The best move, for whoever has asked.
export interface Hint extends Valuation {
  type: 'hint';
  re?: number;
  ignored?: string[];
  match: string;
  ply: number;
  move: string;
  pv: string[];
  san?: string[];
}
// What a bot thinks while it thinks.
export interface Thinking extends Valuation {
  type: 'thinking';
  match: string;
  ply: number;
  depth: number;
  nodes: number;
  pv: string[];
  san?: string[];
  pruned?: number;
}
// A part of what is thought of an ended match, the last ply first.
export interface Analysis {
  type: 'analysis';
  match: string;
  done: number;
  of: number;
  plies: AnalysedPly[];
  // In the first part, and in the last.
  end?: Valuation;
  accuracy?: [number | null, number | null];
}
export interface Events {
  type: 'events';
  re?: number;
  ignored?: string[];
  match: string;
  events: MatchEvent[];
}
export interface Blocked {
  type: 'blocked';
  re?: number;
  ignored?: string[];
  players: { id: string; name: string }[];
}
// One device, or program, of a player.
export interface Session {
  session: string;
  label: string;
  kind: 'web' | 'cli' | 'key';
  created_ms: number;
  seen_day: string;
  connected: boolean;
  this: boolean;
  // The name of the program whose it is, if that has an account of its own.
  bot?: string;
}
export interface Sessions {
  type: 'sessions';
  re?: number;
  ignored?: string[];
  sessions: Session[];
}
export interface PlayerTold {
  type: 'player';
  player: Player;
}
export interface SessionAdded {
  type: 'session_added';
  session: string;
  label: string;
  kind: 'web' | 'cli' | 'key';
}
export interface Paired {
  type: 'paired';
  re?: number;
  ignored?: string[];
  code: string;
  expires_ms: number;
}
export interface RecoveryKey {
  type: 'recovery_key';
  re?: number;
  ignored?: string[];
  key: string;
}
export interface KeyTold {
  type: 'key';
  re?: number;
  ignored?: string[];
  key: string;
  session: string;
  player: Player;
}
export interface Ok {
  type: 'ok';
  re?: number;
  ignored?: string[];
  seq?: number;
}
export interface Pong {
  type: 'pong';
  re?: number;
  ignored?: string[];
}
export interface Failure {
  type: 'error';
  re?: number;
  match?: string;
  ignored?: string[];
  code: string;
  message: string;
  retryable: boolean;
  retry_after_ms?: number;
  field?: string;
  expected?: number;
  takebacks?: number;
}

export type Message =
  | Welcome
  | Snapshot
  | MatchEvent
  | Presence
  | ClockTold
  | RematchTold
  | SaidTold
  | RatingTold
  | YourTurn
  | Challenge
  | ChallengeOver
  | WatchOver
  | ListChanged
  | Seekers
  | Matches
  | Events
  | History
  | Profile
  | Analysis
  | Hint
  | Thinking
  | RatingTold
  | Leaders
  | Blocked
  | Sessions
  | SessionAdded
  | PlayerTold
  | Paired
  | RecoveryKey
  | KeyTold
  | Ok
  | Pong
  | Failure;

export type SeatWish = 'me' | 'open' | { bot: string };
type OneMatch = { match: string };

// That it is the player who asks, where there is a password.
export interface Proof {
  password?: string;
  recovery?: string;
}

export type Request =
  | {
      type: 'leaders';
      game: string;
      pool?: 'live' | 'days' | 'bots';
      limit?: number;
      after?: number;
    }
  | {
      type: 'hello';
      protocol: 1;
      name?: string;
      token?: string;
      pair?: string;
      recovery?: string;
      password?: string;
      label?: string;
    }
  | {
      type: 'history';
      player?: string;
      game?: string;
      with?: string;
      result?: 'won' | 'lost' | 'drawn' | 'none';
      before?: string;
      limit?: number;
    }
  | { type: 'profile'; name?: string; player?: string }
  | { type: 'leaders'; game: string; pool: string; limit?: number; after?: number }
  | ({ type: 'analyse'; nodes?: number } & OneMatch)
  | ({ type: 'hint'; ply: number } & OneMatch)
  | { type: 'block'; player?: string; on?: boolean }
  | { type: 'sessions' | 'pair' }
  | ({ type: 'recovery' } & Proof)
  | ({ type: 'end_session'; session: string } & Proof)
  | { type: 'register'; name: string; password: string; invite?: string }
  | ({ type: 'create_key'; label?: string; bot?: string } & Proof)
  | ({ type: 'forget_me' } & Proof)
  | { type: 'rename'; name: string }
  | ({ type: 'set_password'; new: string } & Proof)
  | { type: 'ping' }
  | ({ type: 'say'; preset?: string; text?: string } & OneMatch)
  | {
      type: 'create';
      game: string;
      seats: SeatWish[];
      listed?: boolean;
      watch?: WatchedBy;
      delay_ms?: number;
      shuffle?: boolean;
      pace_ms?: number;
      clock?: Clock;
      takeback?: boolean;
      patience_ms?: number;
      stand_in?: string;
      rated?: boolean;
      thinking?: boolean;
      history?: boolean;
      position?: string;
      for?: string;
    }
  | ({ type: 'join'; seat?: number } & OneMatch)
  | ({ type: 'watch' | 'leave' | 'resign' | 'abort' } & OneMatch)
  | ({ type: 'seat'; seat: number; occupant: 'open' | { bot: string } } & OneMatch)
  | ({ type: 'move'; ply: number; move: string; takebacks?: number } & OneMatch)
  | {
      type: 'list';
      game?: string;
      status?: Status;
      limit?: number;
      after?: string;
      seekers?: boolean;
    }
  | ({ type: 'offer'; offer: 'draw'; ply: number } & OneMatch)
  | ({ type: 'offer'; offer: 'takeback'; ply: number; to_ply?: number } & OneMatch)
  | ({ type: 'offer'; offer: 'rematch' } & OneMatch)
  | ({ type: 'decline'; offer: OfferKind } & OneMatch)
  | ({ type: 'give_time'; ms: number } & OneMatch)
  | { type: 'watch_list'; game?: string; status?: Status; seekers?: boolean }
  | { type: 'unwatch_list' }
  | {
      type: 'seek';
      game: string;
      bot?: string;
      bot_after_ms?: number;
      clock?: Clock;
      rated?: boolean;
      rating?: [number, number];
      stand_in?: string;
    }
  | { type: 'unseek' }
  | ({ type: 'resync'; since: number } & OneMatch);
