// The games that are played without a server, kept in this browser until they are over: one goes on with them after
// a reload, and after one has been with the server.

import { recall, remember } from './keep.js';

/** @import { SeatWish } from '../protocol.js' */
/** @import { Series } from './alone/table.js' */

/**
 * A game that is played: all that is needed to go on with it.
 * @typedef {object} Played
 * @property {string} id
 * @property {string} game
 * @property {[SeatWish, SeatWish]} seats
 * @property {boolean} takeback
 * @property {number} pace
 * @property {number} seed
 * @property {string[]} moves
 * @property {number} takebacks
 * @property {Series} [series]
 */

/** So many are kept, those that were moved in last. */
const PLAYED_MAX = 8;
/** No game that is played here is longer. */
const MOVES_MAX = 64;
/** No word of them is longer. */
const WORD_MAX = 40;
const PACE_MAX_MS = 60_000;

const ID = /^alone-[a-z0-9]{1,7}$/;

/** Those that can be gone on with. What somebody else has written there is left out. @returns {Played[]} */
export function keptAlone() {
  try {
    const kept = JSON.parse(recall('alone') ?? '[]');
    return Array.isArray(kept) ? kept.filter(isPlayed).slice(0, PLAYED_MAX) : [];
  } catch {
    return [];
  }
}

/** Keeps how a game stands; `null` once there is nothing to go on with. @param {string} id @param {Played | null} played */
export function keepAlone(id, played) {
  const others = keptAlone().filter((other) => other.id !== id);
  const kept = played ? [played, ...others].slice(0, PLAYED_MAX) : others;
  remember('alone', kept.length > 0 ? JSON.stringify(kept) : null);
}

/** The game of this address, if it is one that is played without a server. @param {string} path */
export function aloneAt(path) {
  const id = /^\/m\/([^/]+)\/?$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return ID.test(id) ? id : null;
}

/** @param {any} played @returns {played is Played} */
function isPlayed(played) {
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

/** @param {any} seat */
const isSeat = (seat) => seat === 'me' || isWord(seat?.bot);

/** @param {any} series */
const isSeries = (series) =>
  isCount(series?.game) && isList(series.points, isCount, 2) && series.points.length === 2;

/** @param {unknown} word @returns {word is string} */
const isWord = (word) => typeof word === 'string' && word.length <= WORD_MAX;

/** @param {unknown} count */
const isCount = (count, most = Number.MAX_SAFE_INTEGER) =>
  Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= most;

/** @param {unknown} list @param {(item: unknown) => boolean} is @param {number} most @returns {list is unknown[]} */
const isList = (list, is, most) =>
  Array.isArray(list) && list.length <= most && list.every((item) => is(item));
