// Go: stones, and whose turn it is, as SGF has them; what was captured and passed before only the server's own
// notation tells.

import { countPieces, readGrid, writeGrid } from './grid.ts';
import { isSgf, readSgf, writeSgf } from './sgf.ts';
import { PositionError } from '../position-error.ts';

import type { PiecesBySquare } from '../editor-position.ts';
import type { Notation } from './notations.ts';

const SGF = { kind: 1, pieces: ['b', 'w'] as [string, string], downwards: false };
const FIELDS = 6;

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
    const strange = numbers.find((number) => !/^(0|[1-9]\d{0,3})$/.test(number));
    if (strange !== undefined) throw new PositionError('setup.bad.number', { text: strange });
    const isWhole = numbers.length === FIELDS - 2;
    return {
      squares,
      turn: turn === 'w' ? 1 : 0,
      extraFields: isWhole ? numbers.join(' ') : undefined,
    };
  },
  write: ({ squares, turn, extraFields: more }, game) => {
    const numbers = typeof more === 'string' ? more : playedFor(squares, turn);
    return `${writeGrid(squares, game, false)} ${turn === 0 ? 'b' : 'w'} ${numbers}`;
  },
  writeStandard: (draft, game) => writeSgf(draft, game, SGF),
};

/** The shortest play that can have led here: nothing was captured, and whoever has fewer stones has passed. */
function playedFor(squares: PiecesBySquare, turn: number) {
  const [black, white] = [countPieces(squares, 'b'), countPieces(squares, 'w')];
  // Each has had as many turns as they have stones, and both took turns.
  const rounds = turn === 0 ? Math.max(black, white) : Math.max(black - 1, white, 0);
  const plies = 2 * rounds + turn;
  // Whoever was the last, and has no stone, has passed.
  const hasPassed = plies > 0 && (turn === 0 ? white : black) === 0;
  return `0 0 ${hasPassed ? 1 : 0} ${plies}`;
}
