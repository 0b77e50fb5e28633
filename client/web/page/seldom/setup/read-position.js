// Reads the texts that users paste on the set-up board. Needs no document, so that tests can call it.

import { Draft } from './draft.js';
import { notationOf } from './notations.js';
import { splitUci } from './uci.js';
import { Wrong } from './wrong.js';

/** @import { Game } from '../../../protocol.js' */

/**
 * The position of a text, and the number of moves in the text, which the page does not play. Throws `Wrong` if the
 * text has no position.
 * @param {string} text
 * @param {Game} game
 * @returns {{ draft: Draft, unplayed: number }}
 */
export function readPosition(text, game) {
  if (text.trim() === '') throw new Wrong('setup.bad.empty');
  const { position, moves } = splitUci(text.trim());
  if (position === null) return { draft: Draft.first(game), unplayed: moves };
  const told = notationOf(game.game).read(position, game);
  return { draft: new Draft(game, told), unplayed: (told.moves ?? 0) + moves };
}
