// The page's names of the generated protocol types, and the type of the reply to each request.

import type { Message, SeatState } from './generated/messages.d.ts';
import type { Request } from './generated/requests.d.ts';

export type {
  AnalysedPly,
  Challenge as ChallengeRow,
  ChatEntry as Said,
  ChatPresetText as Preset,
  ClockControl as Clock,
  Ending as Outcome,
  Event as MatchEvent,
  Finding as Sign,
  GameSummary as Game,
  HistoryRow,
  LeaderboardRow as LeaderRow,
  LevelSummary as Level,
  ListedMatch as Listed,
  MatchStatus as Status,
  Message,
  NamedPlayer as Person,
  OfferKind,
  OfferState as StandingOffer,
  PlayerSummary as Player,
  PoolRating,
  PositionEvaluation as Valuation,
  RatingChange,
  RematchState,
  SeatState as Seat,
  Seeker,
  SessionSummary as Session,
  SpectatorAccess as WatchedBy,
} from './generated/messages.d.ts';
export type { Request, SeatRequest as SeatWish } from './generated/requests.d.ts';

type MessageOf<Type extends Message['type']> = Extract<Message, { type: Type }>;
export type RequestOf<Type extends Request['type']> = Extract<Request, { type: Type }>;

export type Analysis = MessageOf<'analysis'>;
export type Blocked = MessageOf<'blocked'>;
export type ClockTold = MessageOf<'clock'>;
export type Events = MessageOf<'events'>;
export type Failure = MessageOf<'error'>;
export type Hint = MessageOf<'hint'>;
export type KeyTold = MessageOf<'key'>;
export type Leaders = MessageOf<'leaders'>;
export type ListChanged = MessageOf<'list_changed'>;
export type Matches = MessageOf<'matches'>;
export type Paired = MessageOf<'paired'>;
export type Presence = MessageOf<'presence'>;
export type Profile = MessageOf<'profile'>;
export type SaidTold = MessageOf<'said'>;
export type Seekers = MessageOf<'seekers'>;
export type SessionAdded = MessageOf<'session_added'>;
export type Snapshot = MessageOf<'match'>;
export type Thinking = MessageOf<'thinking'>;
export type Welcome = MessageOf<'welcome'>;
export type YourTurn = MessageOf<'your_turn'>;

export type Occupant = Without<SeatState, 'side'>;

/** Reply to a request of type `Type`. */
export type ReplyTo<Type extends Request['type']> = Type extends keyof Replies
  ? Replies[Type]
  : MessageOf<'ok'>;

/** Replies by type of request. The server answers all other requests with `ok`. */
interface Replies {
  block: Blocked;
  create: Snapshot;
  create_key: KeyTold;
  explore: MessageOf<'explore'>;
  hello: Welcome;
  hint: Hint;
  history: MessageOf<'history'>;
  join: Snapshot;
  leaders: Leaders;
  list: Matches;
  pair: Paired;
  ping: MessageOf<'pong'>;
  profile: Profile;
  recovery: MessageOf<'recovery_key'>;
  resync: Events | Snapshot;
  sessions: MessageOf<'sessions'>;
  watch: Snapshot;
}

/** `Omit` for each member of a union. */
export type Without<Union, Key extends PropertyKey> = Union extends unknown
  ? Omit<Union, Key>
  : never;
