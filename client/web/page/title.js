// What stands on the tab.

import { say } from './language.js';
import { isMyTurn, offersTo } from './match.js';
import { nameIn, offered, standingOver } from './words.js';

/** @import { Link } from './connection.js' */
/** @import { Match } from './match.js' */
/** @import { Speech } from './words.js' */

/**
 * @param {string} title what the view calls itself
 * @param {Match[]} wanted the matches that wait for us
 * @param {(match: Match) => boolean} isSeen whether a match is the one in view
 */
export function titleOf(title, wanted, isSeen) {
  if (wanted.length === 0) return title || 'Plyhouse';
  const what = wanted.some(isMyTurn) ? 'title.turn' : 'title.offer';
  if (!title) return `● ${say(what)} – Plyhouse`;
  return wanted.some(isSeen) ? title : `● ${say(`${what}.elsewhere`)} – ${title}`;
}

/**
 * How a match stands, or what is offered in it, with a mark where we are waited for.
 * @param {Match} match
 * @param {Link['state']} state what the connection is doing
 * @param {Speech} speech
 */
export function titleOfMatch(match, state, speech) {
  if (state !== 'open') return standingOver(match, state, speech);
  const [offer] = offersTo(match);
  const name = offer ? nameIn(match, offer.seat, speech) : '';
  const standing = offer ? offered(match, offer, name) : standingOver(match, state, speech);
  return `${waitsForUs(match) ? '● ' : ''}${standing}`;
}

/** Whether a match waits for a move or an answer of ours. @param {Match} match */
export const waitsForUs = (match) => isMyTurn(match) || offersTo(match).length > 0;
