// Reads chess positions as FEN, whose last four fields are optional, or EPD, and writes FEN.

import { isAttacked } from '../chess-attacks.ts';
import { splitFen } from './epd.ts';
import { countPieces, readGrid, writeGrid } from './grid.ts';
import { positionFromPgn } from './pgn.ts';
import { PositionError } from '../position-error.ts';

import type { PiecesBySquare } from '../editor-position.ts';
import type { Notation } from './notations.ts';

const INITIAL = { position: 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1' };
const PIECES = 'KQRBNPkqrbnp';
const PIECES_MAX = 16;
const PAWNS_MAX = 8;
/** The result at the end of a game. */
const RESULT = /^(1-0|0-1|1\/2-1\/2|\*)$/;
/** Maximum of both counters. Greater values are read as this. */
const COUNT_MAX = 65_535;

/** The fields of FEN after the board and the side to move. */
export interface FenFields {
  /** some of `KQkq`, or empty */
  castling: string;
  enPassant: string;
  halfmoveClock: number;
  fullmoveNumber: number;
}

/** Squares of the king and the rook for each castling right. */
const CASTLING_SQUARES: Record<string, [string, string][]> = {
  K: [['e1', 'K'], ['h1', 'R']],
  Q: [['e1', 'K'], ['a1', 'R']],
  k: [['e8', 'k'], ['h8', 'r']],
  q: [['e8', 'k'], ['a8', 'r']],
}; // prettier-ignore

/** Castling rights whose king and rook are on their initial squares. */
export const possibleCastlingRights = (squares: PiecesBySquare) =>
  Object.entries(CASTLING_SQUARES).flatMap(([right, pieces]) =>
    pieces.every(([square, piece]) => squares.get(square) === piece) ? [right] : [],
  );

export const toFenFields = (extraFields: unknown): FenFields => ({
  ...{ castling: '', enPassant: '-', halfmoveClock: 0, fullmoveNumber: 1 },
  ...(extraFields as Partial<FenFields> | undefined),
});

export const chess: Notation = {
  helpKey: 'setup.text.fen',
  initialPosition: () => INITIAL.position,
  pieces: () => [...PIECES],
  transformations: ['mirror', 'swap'],
  swapSide: (piece) => (piece === piece.toUpperCase() ? piece.toLowerCase() : piece.toUpperCase()),
  flipsOnSwap: ['over'],
  read: (text, game) => {
    const { fen, moves } = positionFromPgn(text, RESULT);
    const { fields, moves: movesAfterFen } = splitFen(fen);
    const [
      rows = '',
      turn = 'w',
      castling = '-',
      enPassant = '-',
      halfmoveClock = '0',
      fullmoveNumber = '1',
    ] = fields;
    const squares = readGrid(rows, game, PIECES);
    if (turn !== 'w' && turn !== 'b')
      throw new PositionError('setup.bad.turn', { letter: turn, sides: ['w', 'b'].join(' ') });
    if (!/^(-|[KQkq]{1,4})$/.test(castling))
      throw new PositionError('setup.bad.castling', { text: castling });
    const invalidRight = [...castling].find(
      (right) => right !== '-' && !possibleCastlingRights(squares).includes(right),
    );
    if (invalidRight !== undefined)
      throw new PositionError('setup.bad.castle', { letter: invalidRight });
    if (!/^(-|[a-h][36])$/.test(enPassant))
      throw new PositionError('setup.bad.passant', { text: enPassant });
    for (const count of [halfmoveClock, fullmoveNumber])
      if (!/^\d+$/.test(count)) throw new PositionError('setup.bad.number', { text: count });
    const extraFields: FenFields = {
      castling: [...'KQkq'].filter((right) => castling.includes(right)).join(''),
      ...{ enPassant, halfmoveClock: Math.min(Number(halfmoveClock), COUNT_MAX) },
      fullmoveNumber: Math.min(Math.max(1, Number(fullmoveNumber)), COUNT_MAX),
    };
    return { squares, turn: turn === 'w' ? 0 : 1, extraFields, moveCount: moves + movesAfterFen };
  },
  write: ({ squares, turn, extraFields }, game) => {
    const { castling, enPassant, halfmoveClock, fullmoveNumber } = toFenFields(extraFields);
    const side = turn === 0 ? 'w' : 'b';
    const fields = [side, castling || '-', enPassant, halfmoveClock, fullmoveNumber];
    return `${writeGrid(squares, game, true)} ${fields.join(' ')}`;
  },
  updateExtraFields: (squares, extraFields) => {
    const { castling } = toFenFields(extraFields);
    const rights = possibleCastlingRights(squares).filter((right) => castling.includes(right));
    // The counters start again after an edit.
    return { castling: rights.join(''), enPassant: '-', halfmoveClock: 0, fullmoveNumber: 1 };
  },
  validate: (position) => {
    const { squares, turn } = position;
    const pieces = [...squares];
    if (countPieces(squares, 'K') !== 1 || countPieces(squares, 'k') !== 1)
      return new PositionError('setup.why.kings');
    if (pieces.some(([square, piece]) => /p/i.test(piece) && /[18]$/.test(square)))
      return new PositionError('setup.why.pawns');
    for (const side of [/[A-Z]/, /[a-z]/]) {
      const own = pieces.filter(([, piece]) => side.test(piece));
      const pawns = own.filter(([, piece]) => /p/i.test(piece));
      if (own.length > PIECES_MAX || pawns.length > PAWNS_MAX)
        return new PositionError('setup.why.many', { most: PIECES_MAX, pawns: PAWNS_MAX });
    }
    // The side that moved last must not be in check.
    const isWhite = turn === 1;
    const [square = ''] = pieces.find(([, piece]) => piece === (isWhite ? 'K' : 'k')) ?? [];
    return isAttacked(position.board, square, isWhite)
      ? new PositionError('setup.why.check')
      : null;
  },
};
