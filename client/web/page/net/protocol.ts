// The page's names of the generated protocol types, and the type of the reply to each request.

import type { Message, SeatState } from './generated/messages.d.ts';
import type { Request } from './generated/requests.d.ts';

export type {
  AnalysedPly,
  Challenge,
  ChatEntry,
  ChatPresetText,
  ClockControl as Clock,
  Ending as Outcome,
  Event as MatchEvent,
  Finding,
  GameSummary as Game,
  HistoryRow,
  LeaderboardRow,
  LevelSummary as Level,
  ListedMatch,
  MatchStatus,
  Message,
  NamedPlayer,
  OfferKind,
  OfferState,
  PlayerSummary as Player,
  PoolRating,
  PositionEvaluation,
  RatingChange,
  RematchState,
  SeatState as Seat,
  Seeker,
  SessionSummary as Session,
  SpectatorAccess,
} from './generated/messages.d.ts';
export type { Request, SeatRequest } from './generated/requests.d.ts';

type MessageOf<Type extends Message['type']> = Extract<Message, { type: Type }>;
export type RequestOf<Type extends Request['type']> = Extract<Request, { type: Type }>;

export type Analysis = MessageOf<'analysis'>;
export type BlockList = MessageOf<'blocked'>;
export type ClockUpdate = MessageOf<'clock'>;
export type Events = MessageOf<'events'>;
export type ErrorMessage = MessageOf<'error'>;
export type Hint = MessageOf<'hint'>;
export type ApiKeyCreated = MessageOf<'key'>;
export type Leaderboard = MessageOf<'leaders'>;
export type ListChanged = MessageOf<'list_changed'>;
export type Matches = MessageOf<'matches'>;
export type PairingCode = MessageOf<'paired'>;
export type Presence = MessageOf<'presence'>;
export type Profile = MessageOf<'profile'>;
export type ChatMessage = MessageOf<'said'>;
export type Seekers = MessageOf<'seekers'>;
export type SessionAdded = MessageOf<'session_added'>;
export type Snapshot = MessageOf<'match'>;
export type Thinking = MessageOf<'thinking'>;
export type Welcome = MessageOf<'welcome'>;
export type YourTurn = MessageOf<'your_turn'>;

export type Occupant = OmitFromUnion<SeatState, 'side'>;

/** Reply to a request of type `Type`. */
export type ReplyTo<Type extends Request['type']> = Type extends keyof Replies
  ? Replies[Type]
  : MessageOf<'ok'>;

/** Replies by type of request. The server answers all other requests with `ok`. */
interface Replies {
  block: BlockList;
  create: Snapshot;
  create_key: ApiKeyCreated;
  explore: MessageOf<'explore'>;
  hello: Welcome;
  hint: Hint;
  history: MessageOf<'history'>;
  join: Snapshot;
  leaders: Leaderboard;
  list: Matches;
  pair: PairingCode;
  ping: MessageOf<'pong'>;
  profile: Profile;
  recovery: MessageOf<'recovery_key'>;
  resync: Events | Snapshot;
  sessions: MessageOf<'sessions'>;
  watch: Snapshot;
}

/** `Omit` for each member of a union. */
export type OmitFromUnion<Union, Key extends PropertyKey> = Union extends unknown
  ? Omit<Union, Key>
  : never;
