// What stands on the tab.

import { translate } from '../text/language.ts';
import { isMyTurn, incomingOffers } from '../model/match.ts';
import { seatName, offerText, statusTextForConnection } from '../text/phrases.ts';

import type { ConnectionStatus } from '../net/connection.ts';
import type { Match } from '../model/match.ts';
import type { PhraseContext } from '../text/phrases.ts';

/**
 * @param title what the view calls itself
 * @param wanted the matches that wait for us
 * @param isSeen whether a match is the one in view
 */
export function tabTitle(title: string, wanted: Match[], isSeen: (match: Match) => boolean) {
  if (wanted.length === 0) return title || 'Plyhouse';
  const what = wanted.some(isMyTurn) ? 'title.turn' : 'title.offer';
  if (!title) return `● ${translate(what)} – Plyhouse`;
  return wanted.some(isSeen) ? title : `● ${translate(`${what}.elsewhere`)} – ${title}`;
}

/**
 * How a match stands, or what is offered in it, with a mark where we are waited for.
 * @param state what the connection is doing
 */
export function matchTabTitle(
  match: Match,
  state: ConnectionStatus['state'],
  speech: PhraseContext,
) {
  if (state !== 'open') return statusTextForConnection(match, state, speech);
  const [offer] = incomingOffers(match);
  const name = offer ? seatName(match, offer.seat, speech) : '';
  const standing = offer
    ? offerText(match, offer, name)
    : statusTextForConnection(match, state, speech);
  return `${needsMyAction(match) ? '● ' : ''}${standing}`;
}

/** Whether a match waits for a move or an answer of ours. */
export const needsMyAction = (match: Match) => isMyTurn(match) || incomingOffers(match).length > 0;
