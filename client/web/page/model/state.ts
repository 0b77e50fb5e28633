// The state of the page and the reducer that applies each message of the server to it. All states
// are immutable.

import { withChatMessage } from '../social/chat-state.ts';
import {
  applyEvent,
  fromSnapshot,
  withClocks,
  withPastPositions,
  withPresence,
  withRematch,
  withRestoredSeat,
} from './match.ts';

import type {
  Challenge,
  MatchEvent,
  Message,
  SessionAdded,
  Snapshot,
  Thinking,
  Welcome,
} from '../net/protocol.ts';
import type { Match } from './match.ts';

export interface State {
  /** Id of the player; empty before the first connection. */
  player: string;
  /** Matches that the page follows, by id. */
  matches: ReadonlyMap<string, Match>;
  /** The player's correspondence matches as last listed by the server, by id. */
  correspondence: ReadonlyMap<string, CorrespondenceStatus>;
  /** Ids of correspondence matches with an unseen turn of the player. */
  unseenTurns: ReadonlySet<string>;
  /** Incoming challenges by match id, the oldest first. */
  challenges: ReadonlyMap<string, Challenge>;
  /** Sessions of the player that this page has not confirmed, the oldest first. */
  newSessions: readonly SessionAdded[];
  /** The last engine output of any match. */
  lastThinking: Thinking | null;
}

export interface CorrespondenceStatus {
  match: string;
  /** Whether it is the player's turn; `null` while the match is open. */
  isMine: boolean | null;
  /** Deadline of the turn in Unix milliseconds. */
  due: number | null;
}

/** Changes of the state that originate in the page. */
type LocalAction =
  | { type: 'match_left'; match: string }
  | { type: 'challenge_answered'; match: string }
  /** `session` is `others` if all other sessions were ended. */
  | { type: 'session_confirmed'; session: string };

export type Action = Message | LocalAction;

export const INITIAL_STATE: State = {
  player: '',
  matches: new Map(),
  correspondence: new Map(),
  unseenTurns: new Set(),
  challenges: new Map(),
  newSessions: [],
  lastThinking: null,
};

const EVENT_TYPES: readonly string[] = [
  ...['seated', 'started', 'moved', 'offered', 'declined', 'taken_back'],
  ...['time_given', 'hinted', 'ended'],
];

export const isMatchEvent = (action: Action): action is MatchEvent =>
  EVENT_TYPES.includes(action.type);

/**
 * The state after an action.
 * @param now in `performance.now()` milliseconds
 * @param shownMatch see `Store.dispatch`
 */
export function reduce(state: State, action: Action, now: number, shownMatch?: string): State {
  if (isMatchEvent(action)) return withEvent(state, action, now);
  switch (action.type) {
    case 'welcome':
      return withWelcome(state, action, shownMatch);
    case 'match':
      return withSnapshot(state, action, now);
    case 'events':
      return changeMatch(state, action.match, (match) => withPastPositions(match, action.events));
    case 'presence':
      return changeMatch(state, action.match, (match) => withPresence(match, action, now));
    case 'clock':
      return changeMatch(state, action.match, (match) => withClocks(match, action, now));
    case 'rematch':
      return changeMatch(state, action.match, (match) => withRematch(match, action));
    case 'rating': {
      const { match: id, changes, why: unrated } = action;
      return changeMatch(state, id, (match) => ({ ...match, changes, unrated }));
    }
    case 'said':
      return changeMatch(state, action.match, (match) => withChatMessage(match, action));
    case 'watch_over':
    case 'match_left':
      return { ...state, matches: without(state.matches, action.match) };
    case 'your_turn': {
      const { match, due_ms: due } = action;
      return {
        ...state,
        correspondence: new Map(state.correspondence).set(match, { match, isMine: true, due }),
        unseenTurns: new Set(state.unseenTurns).add(match),
      };
    }
    case 'challenge':
      return { ...state, challenges: new Map(state.challenges).set(action.match, action) };
    case 'challenge_over':
    case 'challenge_answered':
      return { ...state, challenges: without(state.challenges, action.match) };
    case 'session_added':
      return { ...state, newSessions: [...state.newSessions, action] };
    case 'session_confirmed': {
      const remains = ({ session }: SessionAdded) =>
        action.session !== 'others' && action.session !== session;
      return { ...state, newSessions: state.newSessions.filter(remains) };
    }
    case 'thinking':
      return { ...state, lastThinking: action };
    default:
      return state;
  }
}

function withWelcome(state: State, welcome: Welcome, shownMatch?: string): State {
  const { player, following, resumed } = welcome;
  // The server sends snapshots of the followed matches next, but not of correspondence matches.
  const followed = following.filter(({ days }) => !days).map(({ match }) => match);
  const remains = (id: string) => resumed && (followed.includes(id) || id === shownMatch);
  const correspondence = new Map(
    following
      .filter(({ days }) => days)
      .map(({ match, you, turn = null, due_ms: due = null }) => {
        return [match, { match, isMine: turn === null ? null : turn === you, due }];
      }),
  );
  return {
    ...{ ...state, player: player.id, correspondence },
    matches: new Map([...state.matches].filter(([id]) => remains(id))),
    unseenTurns: new Set(
      [...state.unseenTurns].filter((match) => correspondence.get(match)?.isMine),
    ),
    challenges: new Map(welcome.challenges.map((challenge) => [challenge.match, challenge])),
    newSessions: player.id === state.player ? state.newSessions : [],
  };
}

function withSnapshot(state: State, snapshot: Snapshot, now: number): State {
  const { match: id, you, status } = snapshot;
  const match = fromSnapshot(snapshot, now, state.matches.get(id));
  // A challenge can also be opened by its link, which does not answer it.
  const isUnanswered = you === null && status === 'open';
  return {
    ...state,
    matches: new Map(state.matches).set(id, withRestoredSeat(match, state.player)),
    correspondence: status === 'ended' ? without(state.correspondence, id) : state.correspondence,
    unseenTurns: new Set([...state.unseenTurns].filter((unseen) => unseen !== id)),
    challenges: isUnanswered ? state.challenges : without(state.challenges, id),
  };
}

/** The state after an event. It remains the same if an earlier event is missing. */
function withEvent(state: State, event: MatchEvent, now: number): State {
  const { match: id, type } = event;
  const correspondence = without(state.correspondence, id);
  const current = type === 'ended' ? { ...state, correspondence } : state;
  return changeMatch(current, id, (match) => {
    const after = applyEvent(match, event, now);
    return after === null || after === match ? match : withRestoredSeat(after, state.player);
  });
}

function changeMatch(state: State, id: string, change: (match: Match) => Match): State {
  const before = state.matches.get(id);
  if (!before) return state;
  const after = change(before);
  return after === before ? state : { ...state, matches: new Map(state.matches).set(id, after) };
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
