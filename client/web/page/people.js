// People by their names: whoever has a name of their own has a page, and a rating where they have played for one.

import { number, say } from './language.js';
import { occupant as occupantWords } from './words.js';

/** @import { Level, Occupant, RatingChange } from '../protocol.js' */

/** Where one reads about somebody. @param {string} name */
export const pathOf = (name) => `/player/${encodeURIComponent(name)}`;

/** Where one reads about whoever sits there; `null` if nowhere. @param {Occupant} seat */
export const pageOf = (seat) =>
  seat.occupant === 'player' && seat.account ? pathOf(seat.name) : null;

/** Who sits there, with the rating that they had when they sat down. @param {Occupant} seat @param {Level[]} levels */
export function named(seat, levels) {
  const rating = seatRating(seat);
  const name = occupantWords(seat, levels);
  return rating ? `${name} (${rating})` : name;
}

/** A rating as it is written; of one that few games tell one cannot be sure. @param {number} rating @param {boolean} [provisional] */
export const ratingWords = (rating, provisional = false) =>
  say(provisional ? 'rating.about' : 'rating.plain', { rating: String(Math.round(rating)) });

/** The rating of whoever sits there, as it was when they sat down. @param {Occupant} seat */
export function seatRating(seat) {
  const known = seat.occupant === 'player' || seat.occupant === 'bot' ? seat.rating : undefined;
  if (known === undefined) return '';
  return ratingWords(known, seat.occupant === 'player' && seat.provisional === true);
}

/** What a match has changed, with its sign. @param {RatingChange} change */
export function changeWords({ before, after }) {
  const by = Math.round(after) - Math.round(before);
  return by < 0 ? `−${number(-by)}` : `+${number(by)}`;
}
