// Reads and writes boards rank by rank. Has the notations of games that need nothing else, because
// the number of pieces determines the side to move.

import { EMPTY } from '../../model/fen.ts';
import { sideName } from '../../text/labels.ts';
import { Board } from '../../model/position.ts';
import { isSgf, readSgf, writeSgf } from './sgf.ts';
import { PositionError } from '../position-error.ts';

import type { Game } from '../../net/protocol.ts';
import type { PiecesBySquare } from '../editor-position.ts';
import type { Notation } from './notations.ts';

/**
 * Reads the ranks from the highest down. Empty squares are dots or numbers.
 * @param pieces the valid letters
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
  const squares = new Map<string, string>();
  for (const [row, rankText] of rows.entries()) {
    const rank = ranks - 1 - row;
    let file = 0;
    for (const [part] of rankText.matchAll(/\d+|./gu)) {
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

/** @param countsEmpty whether numbers replace runs of empty squares */
export function writeGrid(
  squares: PiecesBySquare,
  game: Pick<Game, 'game' | 'files' | 'ranks' | 'sides'>,
  countsEmpty: boolean,
) {
  const board = new Board(game, '');
  const rows = Array.from({ length: game.ranks }, (_, row) => {
    const files = Array.from({ length: game.files }, (_, file) => file);
    const pieces = files.map(
      (file) => squares.get(board.squareName(file, game.ranks - 1 - row)) ?? EMPTY,
    );
    return pieces.join('');
  });
  const text = rows.join('/');
  return countsEmpty ? text.replaceAll(/\.+/g, (run) => String(run.length)) : text;
}

export const countPieces = (squares: PiecesBySquare, piece: string) =>
  [...squares.values()].filter((value) => value === piece).length;

/**
 * A game whose sides place one piece in turn, without captures.
 * @param first piece of the side that moves first
 */
const placementGame = (
  first: string,
  second: string,
  { countsEmpty = false, ...overrides }: Partial<Notation> & { countsEmpty?: boolean } = {},
): Notation => ({
  helpKey: 'setup.text.own',
  initialPosition: (game) => writeGrid(new Map(), game, countsEmpty),
  pieces: () => [first, second],
  transformations: ['mirror', 'upside'],
  read: (text, game) => ({ squares: readGrid(text, game, first + second), turn: 0 }),
  write: ({ squares }, game) => writeGrid(squares, game, countsEmpty),
  turnOf: (squares) => (countPieces(squares, first) > countPieces(squares, second) ? 1 : 0),
  validate: ({ squares }, { sides }) => {
    const lead = countPieces(squares, first) - countPieces(squares, second);
    const [firstName = '', secondName = ''] = sides.map(sideName);
    const values = { first: firstName, second: secondName };
    return lead === 0 || lead === 1 ? null : new PositionError('setup.why.turns', values);
  },
  ...overrides,
});

export const ticTacToe = placementGame('x', 'o');

export const connectFour = placementGame('r', 'y', {
  transformations: ['mirror'],
  // A disc falls to the lowest free square of its file, and only the top disc can be removed.
  placePiece: (squares, square, piece, game) => {
    const board = new Board(game, '');
    const file = board.coordinatesOf(square)?.file ?? 0;
    const fileSquares = Array.from({ length: game.ranks }, (_, rank) =>
      board.squareName(file, rank),
    );
    const occupied = fileSquares.filter((name) => squares.has(name));
    if (piece === EMPTY) {
      const top = occupied.at(-1);
      return top === undefined ? null : { square: top, piece };
    }
    // A click on a disc replaces this disc.
    if (squares.has(square)) return { square, piece };
    const free = fileSquares.find((name) => !squares.has(name));
    return free === undefined ? null : { square: free, piece };
  },
  validate: (position, game) => {
    const board = new Board(game, '');
    const isFloating = [...position.squares.keys()].some((square) => {
      const { file, rank } = board.coordinatesOf(square) ?? { file: 0, rank: 0 };
      return rank > 0 && !position.squares.has(board.squareName(file, rank - 1));
    });
    return isFloating
      ? new PositionError('setup.why.hangs')
      : (placementGame('r', 'y').validate?.(position, game) ?? null);
  },
});

const GOMOKU = { kind: 4, pieces: ['b', 'w'] as [string, string], downwards: false };

export const gomoku = placementGame('b', 'w', {
  countsEmpty: true,
  helpKey: 'setup.text.sgf',
  read: (text, game) =>
    isSgf(text) ? readSgf(text, game, GOMOKU) : { squares: readGrid(text, game, 'bw'), turn: 0 },
  writeStandard: (position, game) => writeSgf(position, game, GOMOKU),
});

/** Notation of unknown games. The pieces are the first letters of the sides. */
export const fallbackNotation: Notation = {
  ...placementGame('', ''),
  pieces: ({ sides }) => sides.map((side) => side.charAt(0)),
  read: (text, game) => {
    const letters = game.sides.map((side) => side.charAt(0)).join('');
    return { squares: readGrid(text, game, letters), turn: 0 };
  },
  turnOf: undefined,
  validate: undefined,
};
