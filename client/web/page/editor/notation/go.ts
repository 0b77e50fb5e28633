// Reads and writes Go positions as SGF and in the server's notation, which has captures and passes.

import { countPieces, readGrid, writeGrid } from './grid.ts';
import { isSgf, readSgf, writeSgf } from './sgf.ts';
import { PositionError } from '../position-error.ts';

import type { PiecesBySquare } from '../editor-position.ts';
import type { Notation } from './notations.ts';

const SGF = { kind: 1, pieces: ['b', 'w'] as [string, string], downwards: false };
const FIELD_COUNT = 6;

export const go: Notation = {
  helpKey: 'setup.text.sgf',
  initialPosition: (game) => [writeGrid(new Map(), game, false), 'b', 0, 0, 0, 0].join(' '),
  pieces: () => ['b', 'w'],
  transformations: ['mirror', 'upside', 'swap'],
  swapSide: (piece) => (piece === 'b' ? 'w' : 'b'),
  read: (text, game) => {
    if (isSgf(text)) return readSgf(text, game, SGF);
    const [rows = '', turn, ...numbers] = text.split(/\s+/);
    const squares = readGrid(rows, game, 'bw');
    if (turn !== undefined && turn !== 'b' && turn !== 'w')
      throw new PositionError('setup.bad.turn', { letter: turn, sides: ['b', 'w'].join(' ') });
    const invalid = numbers.find((number) => !/^(0|[1-9]\d{0,3})$/.test(number));
    if (invalid !== undefined) throw new PositionError('setup.bad.number', { text: invalid });
    const isComplete = numbers.length === FIELD_COUNT - 2;
    return {
      squares,
      turn: turn === 'w' ? 1 : 0,
      extraFields: isComplete ? numbers.join(' ') : undefined,
    };
  },
  write: ({ squares, turn, extraFields }, game) => {
    const numbers = typeof extraFields === 'string' ? extraFields : shortestHistory(squares, turn);
    return `${writeGrid(squares, game, false)} ${turn === 0 ? 'b' : 'w'} ${numbers}`;
  },
  writeStandard: (position, game) => writeSgf(position, game, SGF),
};

/** Counters of the shortest game that leads to the position without captures. */
function shortestHistory(squares: PiecesBySquare, turn: number) {
  const [black, white] = [countPieces(squares, 'b'), countPieces(squares, 'w')];
  // Both sides alternate, and have at least as many turns as stones.
  const rounds = turn === 0 ? Math.max(black, white) : Math.max(black - 1, white, 0);
  const plies = 2 * rounds + turn;
  // If the side that moved last has no stones, it has passed.
  const hasPassed = plies > 0 && (turn === 0 ? white : black) === 0;
  return `0 0 ${hasPassed ? 1 : 0} ${plies}`;
}
