// People by their names: whoever has a name of their own has a page, and a rating where they have played for one.

import { number, say } from './language.js';
import { occupant as occupantWords } from './words.js';

/** @import { Level, Occupant, RatingChange } from '../protocol.js' */

/** Where one reads about somebody. @param {string} name */
export const pathOf = (name) => `/player/${encodeURIComponent(name)}`;

/** Where one reads about whoever sits there; `null` if nowhere. @param {Occupant} seat */
export const pageOf = (seat) =>
  seat.occupant === 'player' && seat.account ? pathOf(seat.name) : null;

/** Who sits there, with their rating where they have one of their own. @param {Occupant} seat @param {Level[]} levels */
export function named(seat, levels) {
  const rating = seat.occupant === 'player' ? seatRating(seat, '', levels) : '';
  const name = occupantWords(seat, levels);
  return rating ? `${name} (${rating})` : name;
}

/** A rating as it is written; of one that few games tell one cannot be sure. @param {number} rating @param {boolean} [provisional] */
export const ratingWords = (rating, provisional = false) =>
  say(provisional ? 'rating.about' : 'rating.plain', { rating: String(Math.round(rating)) });

/**
 * The rating of whoever sits there: of an account as it was when it sat down, of a bot as it is published.
 * @param {Occupant} seat
 * @param {string} game
 * @param {Level[]} levels
 */
export function seatRating(seat, game, levels) {
  if (seat.occupant === 'player' && seat.rating !== undefined)
    return ratingWords(seat.rating, seat.provisional);
  if (seat.occupant !== 'bot' || seat.for) return '';
  const rating = levels.find(({ level }) => level === seat.level)?.rating?.[game];
  return rating === undefined ? '' : ratingWords(rating);
}

/** What a match has changed, with its sign. @param {RatingChange} change */
export function changeWords({ before, after }) {
  const by = Math.round(after) - Math.round(before);
  return by < 0 ? `−${number(-by)}` : `+${number(by)}`;
}
