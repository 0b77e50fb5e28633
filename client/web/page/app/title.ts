// The title of the browser tab.

import { translate } from '../text/language.ts';
import { isMyTurn, incomingOffers } from '../model/match.ts';
import { seatName, offerText, statusTextForConnection } from '../text/phrases.ts';

import type { ConnectionStatus } from '../net/connection.ts';
import type { Match } from '../model/match.ts';
import type { PhraseContext } from '../text/phrases.ts';

/**
 * @param title the title of the view
 * @param waiting matches that wait for the player
 */
export function tabTitle(title: string, waiting: Match[], isInView: (match: Match) => boolean) {
  if (waiting.length === 0) return title || 'Plyhouse';
  const key = waiting.some(isMyTurn) ? 'title.turn' : 'title.offer';
  if (!title) return `● ${translate(key)} – Plyhouse`;
  return waiting.some(isInView) ? title : `● ${translate(`${key}.elsewhere`)} – ${title}`;
}

/** The status of a match or the opponent's offer, marked if the match waits for the player. */
export function matchTabTitle(
  match: Match,
  state: ConnectionStatus['state'],
  context: PhraseContext,
) {
  if (state !== 'open') return statusTextForConnection(match, state, context);
  const [offer] = incomingOffers(match);
  const name = offer ? seatName(match, offer.seat, context) : '';
  const status = offer
    ? offerText(match, offer, name)
    : statusTextForConnection(match, state, context);
  return `${needsMyAction(match) ? '● ' : ''}${status}`;
}

/** Whether a match waits for a move or an answer of the player. */
export const needsMyAction = (match: Match) => isMyTurn(match) || incomingOffers(match).length > 0;
