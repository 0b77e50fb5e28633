// Who moves first in a match that begins with a position of its own: whoever is to move in it.

import type { Snapshot } from '../net/protocol.ts';

/** The seat that moves first. */
export function firstToMove({ start, seats }: Pick<Snapshot, 'start' | 'seats'>) {
  if (start === undefined) return 0;
  const letters = seats.map(({ side }) => side[0] ?? '');
  const second = letters[1] ?? '';
  const [board = '', field] = start.split(' ');
  // Games tell it behind the board or before it, or leave it to be counted.
  const told = field ?? /^([BW]):/.exec(board)?.[1];
  if (told !== undefined) return told === 'O' || told.toLowerCase() === second ? 1 : 0;
  const count = (letter: string) => board.split(letter).length;
  return count(letters[0] ?? '') > count(second) ? 1 : 0;
}
