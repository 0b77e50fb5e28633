// Othello: 64 squares from a1 on, and the side to move; or SGF. Programs write the discs in several letters.

import { conventionsOf } from '../../model/game-conventions.ts';
import { Board } from '../../model/position.ts';
import { isSgf, readSgf, writeSgf } from './sgf.ts';
import { PositionError } from '../position-error.ts';

import type { Notation } from './notations.ts';

const SIZE = 8;
const SGF = { kind: 2, pieces: ['*', 'O'] as [string, string], downwards: true };
const BLACK = /[*xb]/i;
const WHITE = /[ow0]/i;
const FREE = /[-.]/;
const CENTRE = ['d4', 'e4', 'd5', 'e5'];

export const othello: Notation = {
  helpKey: 'setup.text.othello',
  initialPosition: () => '---------------------------O*------*O--------------------------- *',
  pieces: () => ['*', 'O'],
  transformations: ['mirror', 'upside', 'swap'],
  swapSide: (piece) => (piece === '*' ? 'O' : '*'),
  read: (text, game) => {
    if (isSgf(text)) return readSgf(text, game, SGF);
    // Behind these an Othello board file tells what moves are worth, and comments.
    const [told = ''] = text.split(/[;%]/);
    const letters = [...told.replaceAll(/\s/g, '')];
    const { length } = letters;
    if (length !== SIZE * SIZE + 1) throw new PositionError('setup.bad.squares', { length });
    const strange = letters.find(
      (letter) => ![BLACK, WHITE, FREE].some((kind) => kind.test(letter)),
    );
    if (strange !== undefined) throw new PositionError('setup.bad.piece', { letter: strange });
    const turn = letters.pop() ?? '';
    if (FREE.test(turn))
      throw new PositionError('setup.bad.turn', { letter: turn, sides: ['*', 'O'].join(' ') });
    const board = new Board(game, '');
    const squares = letters.flatMap((letter, at) => {
      const name = board.squareName(at % SIZE, Math.floor(at / SIZE));
      return FREE.test(letter) ? [] : [[name, BLACK.test(letter) ? '*' : 'O'] as const];
    });
    return { squares: new Map(squares), turn: BLACK.test(turn) ? 0 : 1 };
  },
  write: ({ squares, turn }, game) => {
    const board = new Board(game, '');
    const all = Array.from({ length: SIZE * SIZE }, (_, at) => {
      const name = board.squareName(at % SIZE, Math.floor(at / SIZE));
      return squares.get(name) ?? '-';
    });
    return `${all.join('')} ${conventionsOf(game.game).pieceOf?.(turn) ?? ''}`;
  },
  writeStandard: (draft, game) => writeSgf(draft, game, SGF),
  validate: ({ squares }) =>
    CENTRE.every((square) => squares.has(square)) ? null : new PositionError('setup.why.centre'),
};
