// Determines which seat moves first in a match that begins with a given position.

import type { Snapshot } from '../net/protocol.ts';

export function firstToMove({ start, seats }: Pick<Snapshot, 'start' | 'seats'>) {
  if (start === undefined) return 0;
  const letters = seats.map(({ side }) => side[0] ?? '');
  const second = letters[1] ?? '';
  const [board = '', field] = start.split(' ');
  // Some games write the side to move after the board, draughts before it. Without it, the
  // second side moves if it has fewer pieces.
  const side = field ?? /^([BW]):/.exec(board)?.[1];
  if (side !== undefined) return side === 'O' || side.toLowerCase() === second ? 1 : 0;
  const count = (letter: string) => board.split(letter).length;
  return count(letters[0] ?? '') > count(second) ? 1 : 0;
}
