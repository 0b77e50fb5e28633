// The games that are played without a server, kept in this browser until they are over: one goes on with them after
// a reload, and after one has been with the server.

import { getStored, setStored } from '../ui/storage.ts';

import type { SeatRequest } from '../net/protocol.ts';
import type { Series } from './local-match.ts';

/** A game that is played: all that is needed to go on with it. */
export interface OfflineGame {
  id: string;
  game: string;
  seats: [SeatRequest, SeatRequest];
  takeback: boolean;
  pace: number;
  seed: number;
  moves: string[];
  takebacks: number;
  series?: Series;
}

/** So many are kept, those that were moved in last. */
const PLAYED_MAX = 8;
/** No game that is played here is longer. */
const MOVES_MAX = 64;
/** No word of them is longer. */
const WORD_MAX = 40;
const PACE_MAX_MS = 60_000;

const ID = /^alone-[a-z0-9]{1,7}$/;

/** Those that can be gone on with. What somebody else has written there is left out. */
export function loadOfflineGames(): OfflineGame[] {
  try {
    const kept = JSON.parse(getStored('alone') ?? '[]');
    return Array.isArray(kept) ? kept.filter(isPlayed).slice(0, PLAYED_MAX) : [];
  } catch {
    return [];
  }
}

/** Keeps how a game stands; `null` once there is nothing to go on with. */
export function saveOfflineGame(id: string, played: OfflineGame | null) {
  const others = loadOfflineGames().filter((other) => other.id !== id);
  const kept = played ? [played, ...others].slice(0, PLAYED_MAX) : others;
  setStored('alone', kept.length > 0 ? JSON.stringify(kept) : null);
}

/** The game of this address, if it is one that is played without a server. */
export function offlineGameId(path: string) {
  const id = /^\/m\/([^/]+)\/?$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return ID.test(id) ? id : null;
}

function isPlayed(played: any): played is OfflineGame {
  const { id, game, seats, takeback, pace, seed, moves, takebacks, series } = played ?? {};
  return (
    isWord(id) &&
    ID.test(id) &&
    isWord(game) &&
    isList(seats, isSeat, 2) &&
    seats.length === 2 &&
    seats.filter((seat) => seat === 'me').length === 1 &&
    typeof takeback === 'boolean' &&
    isCount(pace, PACE_MAX_MS) &&
    isCount(seed) &&
    isList(moves, isWord, MOVES_MAX) &&
    isCount(takebacks) &&
    (series === undefined || isSeries(series))
  );
}

const isSeat = (seat: any) => seat === 'me' || isWord(seat?.bot);

const isSeries = (series: any) =>
  isCount(series?.game) && isList(series.points, isCount, 2) && series.points.length === 2;

const isWord = (word: unknown): word is string =>
  typeof word === 'string' && word.length <= WORD_MAX;

const isCount = (count: unknown, most = Number.MAX_SAFE_INTEGER) =>
  Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= most;

const isList = (list: unknown, is: (item: unknown) => boolean, most: number): list is unknown[] =>
  Array.isArray(list) && list.length <= most && list.every((item) => is(item));
