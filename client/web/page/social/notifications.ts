// What is told of a match of ours that nobody looks at: that it begins, that it is our turn, that
// something is offered, that it is over.

import { say, sentences } from '../text/language.ts';
import { isMyTurn, offersTo } from '../model/match.ts';
import * as words from '../text/phrases.ts';

import type { StandingOffer } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';
import type { Speech } from '../text/phrases.ts';

export interface News {
  text: string;
  sound: 'turn' | 'offer' | 'end';
}

/**
 * @param after the same match, later
 * @param title the game's
 */
export function newsOf(before: Match, after: Match, title: string, speech: Speech): News | null {
  if (before.you !== null && after.you === null && after.status === 'running') {
    return { text: say('news.bot', { game: title }), sound: 'end' };
  }
  if (after.you === null) return null;
  const offer = offersTo(after).find(
    (offer) => !offersTo(before).some((old) => isSame(old, offer)),
  );
  if (offer) {
    const name = words.nameIn(after, 1 - after.you, speech);
    const news = words.offered(after, offer, name);
    return { text: say('news.of', { what: title, news }), sound: 'offer' };
  }
  const against = { game: title, name: words.nameIn(after, 1 - after.you, speech) };
  if (after.status === 'ended') {
    const seat = after.seats[after.you];
    const isHost = seat?.occupant === 'player' && seat.player === after.host;
    // One that waits is called off by its host, who knows; a challenge is declined by another.
    const isOwn = isHost && after.outcome?.detail !== 'declined';
    if (before.status === 'ended' || (before.status === 'open' && isOwn)) return null;
    const { headline, why } = words.ended(after, speech);
    const what = say('news.against', against);
    return { text: say('news.of', { what, news: sentences(headline, why) }), sound: 'end' };
  }
  const begins = before.status === 'open' && after.status === 'running';
  if (!begins && (isMyTurn(before) || !isMyTurn(after))) return null;
  const what = say(begins ? 'news.begins' : 'news.against', against);
  const news = words.standing(after, speech);
  return { text: say('news.of', { what, news }), sound: 'turn' };
}

const isSame = (one: StandingOffer, other: StandingOffer) =>
  one.seat === other.seat && one.offer === other.offer && one.ply === other.ply;
