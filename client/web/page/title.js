// What stands on the tab.

import { isMyTurn, offersTo } from './match.js';

/** @import { Match } from './match.js' */

/**
 * @param {string} title what the view calls itself
 * @param {Match[]} wanted the matches that wait for us
 * @param {(match: Match) => boolean} isSeen whether a match is the one in view
 */
export function titleOf(title, wanted, isSeen) {
  if (wanted.length === 0) return title || 'Plyhouse';
  const what = wanted.some(isMyTurn) ? 'Your turn' : 'An offer';
  if (!title) return `● ${what} – Plyhouse`;
  return wanted.some(isSeen) ? title : `● ${what} elsewhere – ${title}`;
}

/** Whether a match waits for a move or an answer of ours. @param {Match} match */
export const waitsForUs = (match) => isMyTurn(match) || offersTo(match).length > 0;
