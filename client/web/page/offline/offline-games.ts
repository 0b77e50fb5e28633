// Stores running offline games in the browser, so that the player can resume them later.

import { getStored, setStored } from '../ui/storage.ts';

import type { SeatRequest } from '../net/protocol.ts';
import type { Series } from './local-match.ts';

/** The data that resumes a running game. */
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

/** Maximum number of stored games. The games with the latest moves are stored. */
const GAMES_MAX = 8;
/** Limit above the longest offline game. */
const MOVES_MAX = 64;
/** Maximum length of an ID, a name or a move. */
const WORD_MAX = 40;
const PACE_MAX_MS = 60_000;

const ID = /^alone-[a-z0-9]{1,7}$/;

/** Returns the stored games. Invalid entries are skipped. */
export function loadOfflineGames(): OfflineGame[] {
  try {
    const games = JSON.parse(getStored('alone') ?? '[]');
    return Array.isArray(games) ? games.filter(isOfflineGame).slice(0, GAMES_MAX) : [];
  } catch {
    return [];
  }
}

/** Stores a game; `null` removes it. */
export function saveOfflineGame(id: string, game: OfflineGame | null) {
  const others = loadOfflineGames().filter((other) => other.id !== id);
  const games = game ? [game, ...others].slice(0, GAMES_MAX) : others;
  setStored('alone', games.length > 0 ? JSON.stringify(games) : null);
}

/** Returns the ID of the offline game at this path, or `null`. */
export function offlineGameId(path: string) {
  const id = /^\/m\/([^/]+)\/?$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return ID.test(id) ? id : null;
}

function isOfflineGame(value: any): value is OfflineGame {
  const { id, game, seats, takeback, pace, seed, moves, takebacks, series } = value ?? {};
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

const isCount = (count: unknown, max = Number.MAX_SAFE_INTEGER) =>
  Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= max;

const isList = (
  list: unknown,
  isItem: (item: unknown) => boolean,
  max: number,
): list is unknown[] =>
  Array.isArray(list) && list.length <= max && list.every((item) => isItem(item));
