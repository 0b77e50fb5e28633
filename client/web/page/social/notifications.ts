// Notifications of a match that is not on screen: its start, the player's turn, offers and its end.

import { translate, joinSentences } from '../text/language.ts';
import { isMyTurn, incomingOffers } from '../model/match.ts';
import { offerText, resultTexts, seatName, statusText } from '../text/phrases.ts';

import type { OfferState } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';
import type { PhraseContext } from '../text/phrases.ts';

export interface MatchNotification {
  text: string;
  sound: 'turn' | 'offer' | 'end';
}

/** @param title of the game */
export function notificationFor(
  before: Match,
  after: Match,
  title: string,
  context: PhraseContext,
): MatchNotification | null {
  if (before.you !== null && after.you === null && after.status === 'running') {
    return { text: translate('news.bot', { game: title }), sound: 'end' };
  }
  if (after.you === null) return null;
  const offer = incomingOffers(after).find(
    (offer) => !incomingOffers(before).some((earlier) => isSameOffer(earlier, offer)),
  );
  if (offer) {
    const name = seatName(after, 1 - after.you, context);
    const news = offerText(after, offer, name);
    return { text: translate('news.of', { what: title, news }), sound: 'offer' };
  }
  const opponent = { game: title, name: seatName(after, 1 - after.you, context) };
  if (after.status === 'ended') {
    const seat = after.seats[after.you];
    const isHost = seat?.occupant === 'player' && seat.player === after.host;
    // No notification if the user, as the host, cancelled the open match.
    const isCancelledByUser = isHost && after.outcome?.detail !== 'declined';
    if (before.status === 'ended' || (before.status === 'open' && isCancelledByUser)) return null;
    const { headline, why } = resultTexts(after, context);
    const what = translate('news.against', opponent);
    return {
      text: translate('news.of', { what, news: joinSentences(headline, why) }),
      sound: 'end',
    };
  }
  const begins = before.status === 'open' && after.status === 'running';
  if (!begins && (isMyTurn(before) || !isMyTurn(after))) return null;
  const what = translate(begins ? 'news.begins' : 'news.against', opponent);
  const news = statusText(after, context);
  return { text: translate('news.of', { what, news }), sound: 'turn' };
}

const isSameOffer = (a: OfferState, b: OfferState) =>
  a.seat === b.seat && a.offer === b.offer && a.ply === b.ply;
