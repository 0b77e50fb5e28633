// People by their names: whoever has a name of their own has a page, and a rating where they have played for one.

import { formatNumber, translate } from '../text/language.ts';
import { occupantName as occupantWords } from '../text/phrases.ts';

import type { Level, Occupant, RatingChange } from '../net/protocol.ts';

/** Where one reads about somebody. */
export const profilePath = (name: string) => `/player/${encodeURIComponent(name)}`;

/** Where one reads about whoever sits there; `null` if nowhere. */
export const seatProfilePath = (seat: Occupant) =>
  seat.occupant === 'player' && seat.account ? profilePath(seat.name) : null;

/** Who sits there, with their rating where they have one of their own. */
export function nameWithRating(seat: Occupant, levels: Level[]) {
  const rating = seat.occupant === 'player' ? seatRatingText(seat, '', levels) : '';
  const name = occupantWords(seat, levels);
  return rating ? `${name} (${rating})` : name;
}

/** A rating as it is written; of one that few games tell one cannot be sure. */
export const ratingText = (rating: number, provisional: boolean = false) =>
  translate(provisional ? 'rating.about' : 'rating.plain', { rating: String(Math.round(rating)) });

/** The rating of whoever sits there: of an account as it was when it sat down, of a bot as it is published. */
export function seatRatingText(seat: Occupant, game: string, levels: Level[]) {
  if (seat.occupant === 'player' && seat.rating !== undefined)
    return ratingText(seat.rating, seat.provisional);
  if (seat.occupant !== 'bot' || seat.for) return '';
  const rating = levels.find(({ level }) => level === seat.level)?.rating[game];
  return rating === undefined ? '' : ratingText(rating);
}

/** What a match has changed, with its sign. */
export function ratingChangeText({ before, after }: RatingChange) {
  const by = Math.round(after) - Math.round(before);
  return by < 0 ? `−${formatNumber(-by)}` : `+${formatNumber(by)}`;
}
