// Profile paths of players, and the texts of ratings.

import { formatNumber, translate } from '../text/language.ts';
import { occupantName } from '../text/phrases.ts';

import type { Level, Occupant, RatingChange } from '../net/protocol.ts';

export const profilePath = (name: string) => `/player/${encodeURIComponent(name)}`;

/** Profile path of the player in a seat; `null` for bots and guests. */
export const seatProfilePath = (seat: Occupant) =>
  seat.occupant === 'player' && seat.account ? profilePath(seat.name) : null;

/** Name of the occupant, with the rating of an account. */
export function nameWithRating(seat: Occupant, levels: Level[]) {
  const rating = seat.occupant === 'player' ? seatRatingText(seat, '', levels) : '';
  const name = occupantName(seat, levels);
  return rating ? `${name} (${rating})` : name;
}

export const ratingText = (rating: number, provisional = false) =>
  translate(provisional ? 'rating.about' : 'rating.plain', { rating: String(Math.round(rating)) });

/** Rating of an account when it joined the match, or the published rating of a bot in the game. */
export function seatRatingText(seat: Occupant, game: string, levels: Level[]) {
  if (seat.occupant === 'player' && seat.rating !== undefined)
    return ratingText(seat.rating, seat.provisional);
  if (seat.occupant !== 'bot' || seat.for) return '';
  const rating = levels.find(({ level }) => level === seat.level)?.rating[game];
  return rating === undefined ? '' : ratingText(rating);
}

export function ratingChangeText({ before, after }: RatingChange) {
  const change = Math.round(after) - Math.round(before);
  return change < 0 ? `−${formatNumber(-change)}` : `+${formatNumber(change)}`;
}
