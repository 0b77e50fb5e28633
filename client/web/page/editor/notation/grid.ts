// Boards that are written rank by rank, and the games of which that is all: whose turn it is follows from the
// number of pieces.

import { EMPTY } from '../../model/fen.ts';
import { sideName } from '../../text/labels.ts';
import { Board } from '../../model/position.ts';
import { isSgf, readSgf, writeSgf } from './sgf.ts';
import { PositionError } from '../position-error.ts';

import type { Game } from '../../net/protocol.ts';
import type { PiecesBySquare } from '../editor-position.ts';
import type { Notation } from './notations.ts';

/**
 * What stands on a board that is written rank by rank from the highest. An empty square is a dot, or counted with
 * those beside it.
 * @param pieces the letters that there are
 */
export function readGrid(
  text: string,
  game: Pick<Game, 'game' | 'files' | 'ranks' | 'sides'>,
  pieces: string,
): PiecesBySquare {
  const board = new Board(game, '');
  const rows = text.split('/');
  const { files, ranks } = game;
  if (rows.length !== ranks)
    throw new PositionError('setup.bad.ranks', { ranks, count: rows.length });
  const squares = new Map();
  for (const [row, written] of rows.entries()) {
    const rank = ranks - 1 - row;
    let file = 0;
    for (const [part] of written.matchAll(/\d+|./gu)) {
      const isCount = /^\d/.test(part);
      if (!isCount && part !== EMPTY) {
        if (!pieces.includes(part)) throw new PositionError('setup.bad.piece', { letter: part });
        if (file < files) squares.set(board.squareName(file, rank), part);
      }
      file += isCount ? Number(part) : 1;
    }
    if (file !== files)
      throw new PositionError('setup.bad.rank', { rank: row + 1, length: file, files });
  }
  return squares;
}

/** @param counts whether empty squares are counted */
export function writeGrid(
  squares: PiecesBySquare,
  game: Pick<Game, 'game' | 'files' | 'ranks' | 'sides'>,
  counts: boolean,
) {
  const board = new Board(game, '');
  const rows = Array.from({ length: game.ranks }, (_, row) => {
    const files = Array.from({ length: game.files }, (_, file) => file);
    const written = files.map(
      (file) => squares.get(board.squareName(file, game.ranks - 1 - row)) ?? EMPTY,
    );
    return written.join('');
  });
  const text = rows.join('/');
  return counts ? text.replaceAll(/\.+/g, (run) => String(run.length)) : text;
}

/** How many of these there are. */
export const countPieces = (squares: PiecesBySquare, piece: string) =>
  [...squares.values()].filter((other) => other === piece).length;

/**
 * A game in which both put a piece down in turn, and nothing is ever taken away.
 * @param first the piece of whoever begins
 */
const inTurn = (
  first: string,
  second: string,
  { counts = false, ...more }: Partial<Notation> & { counts?: boolean } = {},
): Notation => ({
  helpKey: 'setup.text.own',
  initialPosition: (game) => writeGrid(new Map(), game, counts),
  pieces: () => [first, second],
  transformations: ['mirror', 'upside'],
  read: (text, game) => ({ squares: readGrid(text, game, first + second), turn: 0 }),
  write: ({ squares }, game) => writeGrid(squares, game, counts),
  turnOf: (squares) => (countPieces(squares, first) > countPieces(squares, second) ? 1 : 0),
  validate: ({ squares }, { sides }) => {
    const lead = countPieces(squares, first) - countPieces(squares, second);
    const [begins, follows] = sides.map(sideName);
    const values = { first: begins ?? '', second: follows ?? '' };
    return lead === 0 || lead === 1 ? null : new PositionError('setup.why.turns', values);
  },
  ...more,
});

export const ticTacToe = inTurn('x', 'o');

export const connectFour = inTurn('r', 'y', {
  transformations: ['mirror'],
  // A disc falls down in its file, and none is pulled out from below another.
  placePiece: (squares, square, piece, game) => {
    const board = new Board(game, '');
    const file = board.coordinatesOf(square)?.file ?? 0;
    const all = Array.from({ length: game.ranks }, (_, rank) => board.squareName(file, rank));
    const taken = all.filter((name) => squares.has(name));
    if (piece === EMPTY) {
      const top = taken.at(-1);
      return top === undefined ? null : { square: top, piece };
    }
    // Whoever clicks on a disc means it.
    if (squares.has(square)) return { square, piece };
    const free = all.find((name) => !squares.has(name));
    return free === undefined ? null : { square: free, piece };
  },
  validate: (draft, game) => {
    const board = new Board(game, '');
    const hangs = [...draft.squares.keys()].some((square) => {
      const { file, rank } = board.coordinatesOf(square) ?? { file: 0, rank: 0 };
      return rank > 0 && !draft.squares.has(board.squareName(file, rank - 1));
    });
    return hangs
      ? new PositionError('setup.why.hangs')
      : (inTurn('r', 'y').validate?.(draft, game) ?? null);
  },
});

const GOMOKU = { kind: 4, pieces: ['b', 'w'] as [string, string], downwards: false };

export const gomoku = inTurn('b', 'w', {
  counts: true,
  helpKey: 'setup.text.sgf',
  read: (text, game) =>
    isSgf(text) ? readSgf(text, game, GOMOKU) : { squares: readGrid(text, game, 'bw'), turn: 0 },
  writeStandard: (draft, game) => writeSgf(draft, game, GOMOKU),
});

/** A game of which nothing else is known: the pieces are those of its sides. */
export const fallbackNotation: Notation = {
  ...inTurn('', ''),
  pieces: ({ sides }) => sides.map((side) => side.charAt(0)),
  read: (text, game) => {
    const letters = game.sides.map((side) => side.charAt(0)).join('');
    return { squares: readGrid(text, game, letters), turn: 0 };
  },
  turnOf: undefined,
  validate: undefined,
};
