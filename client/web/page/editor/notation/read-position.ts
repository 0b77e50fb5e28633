// Reads the texts that users paste on the set-up board. Needs no document, so that tests can call it.

import { Draft } from '../draft.ts';
import { notationOf } from './notations.ts';
import { splitUci } from './uci.ts';
import { Wrong } from '../position-error.ts';

import type { Game } from '../../net/protocol.ts';

/**
 * The position of a text, and the number of moves in the text, which the page does not play. Throws `Wrong` if the
 * text has no position.
 */
export function readPosition(text: string, game: Game): { draft: Draft; unplayed: number } {
  if (text.trim() === '') throw new Wrong('setup.bad.empty');
  const { position, moves } = splitUci(text.trim());
  if (position === null) return { draft: Draft.first(game), unplayed: moves };
  const told = notationOf(game.game).read(position, game);
  return { draft: new Draft(game, told), unplayed: (told.moves ?? 0) + moves };
}
