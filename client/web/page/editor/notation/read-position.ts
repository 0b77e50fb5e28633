// Reads the texts that users paste into the editor. Tests can call it without a document.

import { EditorPosition } from '../editor-position.ts';
import { notationOf } from './notations.ts';
import { splitUci } from './uci.ts';
import { PositionError } from '../position-error.ts';

import type { Game } from '../../net/protocol.ts';

/**
 * The position of a text, and the number of moves in the text, which the page does not play.
 * Throws a `PositionError` if the text has no position.
 */
export function readPosition(
  text: string,
  game: Game,
): { position: EditorPosition; unplayedMoves: number } {
  if (text.trim() === '') throw new PositionError('setup.bad.empty');
  const { position, moves } = splitUci(text.trim());
  if (position === null) return { position: EditorPosition.initial(game), unplayedMoves: moves };
  const parsed = notationOf(game.game).read(position, game);
  return {
    position: new EditorPosition(game, parsed),
    unplayedMoves: (parsed.moveCount ?? 0) + moves,
  };
}
