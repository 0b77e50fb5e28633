// Reads and writes Othello positions as SGF, or as 64 squares from a1 on and the side to move. It
// accepts the piece letters of several programs.

import { conventionsOf } from '../../model/game-conventions.ts';
import { Board } from '../../model/position.ts';
import { isSgf, readSgf, writeSgf } from './sgf.ts';
import { PositionError } from '../position-error.ts';

import type { Notation } from './notations.ts';

const SIZE = 8;
const SGF = { kind: 2, pieces: ['*', 'O'] as [string, string], downwards: true };
const BLACK = /[*xb]/i;
const WHITE = /[ow0]/i;
const EMPTY = /[-.]/;
const CENTRE = ['d4', 'e4', 'd5', 'e5'];

export const othello: Notation = {
  helpKey: 'setup.text.othello',
  initialPosition: () => '---------------------------O*------*O--------------------------- *',
  pieces: () => ['*', 'O'],
  transformations: ['mirror', 'upside', 'swap'],
  swapSide: (piece) => (piece === '*' ? 'O' : '*'),
  read: (text, game) => {
    if (isSgf(text)) return readSgf(text, game, SGF);
    // An Othello board file has values of moves after `;` and comments after `%`.
    const [fields = ''] = text.split(/[;%]/);
    const letters = [...fields.replaceAll(/\s/g, '')];
    const { length } = letters;
    if (length !== SIZE * SIZE + 1) throw new PositionError('setup.bad.squares', { length });
    const invalid = letters.find(
      (letter) => ![BLACK, WHITE, EMPTY].some((kind) => kind.test(letter)),
    );
    if (invalid !== undefined) throw new PositionError('setup.bad.piece', { letter: invalid });
    const turn = letters.pop() ?? '';
    if (EMPTY.test(turn))
      throw new PositionError('setup.bad.turn', { letter: turn, sides: ['*', 'O'].join(' ') });
    const board = new Board(game, '');
    const squares = letters.flatMap((letter, index) => {
      const name = board.squareName(index % SIZE, Math.floor(index / SIZE));
      return EMPTY.test(letter) ? [] : [[name, BLACK.test(letter) ? '*' : 'O'] as const];
    });
    return { squares: new Map(squares), turn: BLACK.test(turn) ? 0 : 1 };
  },
  write: ({ squares, turn }, game) => {
    const board = new Board(game, '');
    const pieces = Array.from({ length: SIZE * SIZE }, (_, index) => {
      const name = board.squareName(index % SIZE, Math.floor(index / SIZE));
      return squares.get(name) ?? '-';
    });
    return `${pieces.join('')} ${conventionsOf(game.game).pieceOf?.(turn) ?? ''}`;
  },
  writeStandard: (position, game) => writeSgf(position, game, SGF),
  validate: ({ squares }) =>
    CENTRE.every((square) => squares.has(square)) ? null : new PositionError('setup.why.centre'),
};
