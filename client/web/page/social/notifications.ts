// What is told of a match of ours that nobody looks at: that it begins, that it is our turn, that
// something is offered, that it is over.

import { translate, joinSentences } from '../text/language.ts';
import { isMyTurn, incomingOffers } from '../model/match.ts';
import * as words from '../text/phrases.ts';

import type { OfferState } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';
import type { PhraseContext } from '../text/phrases.ts';

export interface MatchNotification {
  text: string;
  sound: 'turn' | 'offer' | 'end';
}

/**
 * @param after the same match, later
 * @param title the game's
 */
export function notificationFor(
  before: Match,
  after: Match,
  title: string,
  speech: PhraseContext,
): MatchNotification | null {
  if (before.you !== null && after.you === null && after.status === 'running') {
    return { text: translate('news.bot', { game: title }), sound: 'end' };
  }
  if (after.you === null) return null;
  const offer = incomingOffers(after).find(
    (offer) => !incomingOffers(before).some((old) => isSame(old, offer)),
  );
  if (offer) {
    const name = words.seatName(after, 1 - after.you, speech);
    const news = words.offerText(after, offer, name);
    return { text: translate('news.of', { what: title, news }), sound: 'offer' };
  }
  const against = { game: title, name: words.seatName(after, 1 - after.you, speech) };
  if (after.status === 'ended') {
    const seat = after.seats[after.you];
    const isHost = seat?.occupant === 'player' && seat.player === after.host;
    // One that waits is called off by its host, who knows; a challenge is declined by another.
    const isOwn = isHost && after.outcome?.detail !== 'declined';
    if (before.status === 'ended' || (before.status === 'open' && isOwn)) return null;
    const { headline, why } = words.resultTexts(after, speech);
    const what = translate('news.against', against);
    return {
      text: translate('news.of', { what, news: joinSentences(headline, why) }),
      sound: 'end',
    };
  }
  const begins = before.status === 'open' && after.status === 'running';
  if (!begins && (isMyTurn(before) || !isMyTurn(after))) return null;
  const what = translate(begins ? 'news.begins' : 'news.against', against);
  const news = words.statusText(after, speech);
  return { text: translate('news.of', { what, news }), sound: 'turn' };
}

const isSame = (one: OfferState, other: OfferState) =>
  one.seat === other.seat && one.offer === other.offer && one.ply === other.ply;
