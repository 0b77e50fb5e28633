// What stands on the tab.

import { say } from '../text/language.ts';
import { isMyTurn, offersTo } from '../model/match.ts';
import { nameIn, offered, standingOver } from '../text/phrases.ts';

import type { Link } from '../net/connection.ts';
import type { Match } from '../model/match.ts';
import type { Speech } from '../text/phrases.ts';

/**
 * @param title what the view calls itself
 * @param wanted the matches that wait for us
 * @param isSeen whether a match is the one in view
 */
export function titleOf(title: string, wanted: Match[], isSeen: (match: Match) => boolean) {
  if (wanted.length === 0) return title || 'Plyhouse';
  const what = wanted.some(isMyTurn) ? 'title.turn' : 'title.offer';
  if (!title) return `● ${say(what)} – Plyhouse`;
  return wanted.some(isSeen) ? title : `● ${say(`${what}.elsewhere`)} – ${title}`;
}

/**
 * How a match stands, or what is offered in it, with a mark where we are waited for.
 * @param state what the connection is doing
 */
export function titleOfMatch(match: Match, state: Link['state'], speech: Speech) {
  if (state !== 'open') return standingOver(match, state, speech);
  const [offer] = offersTo(match);
  const name = offer ? nameIn(match, offer.seat, speech) : '';
  const standing = offer ? offered(match, offer, name) : standingOver(match, state, speech);
  return `${waitsForUs(match) ? '● ' : ''}${standing}`;
}

/** Whether a match waits for a move or an answer of ours. */
export const waitsForUs = (match: Match) => isMyTurn(match) || offersTo(match).length > 0;
