// Chess: FEN. Of its six fields the last four may be missing. Or EPD, which has operations behind the fourth.

import { isAttacked } from '../chess-attacks.ts';
import { splitFen } from './epd.ts';
import { countPieces, readGrid, writeGrid } from './grid.ts';
import { positionFromPgn } from './pgn.ts';
import { PositionError } from '../position-error.ts';

import type { PiecesBySquare } from '../editor-position.ts';
import type { Notation } from './notations.ts';

const FIRST = { position: 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1' };
const PIECES = 'KQRBNPkqrbnp';
const PIECES_MAX = 16;
const PAWNS_MAX = 8;
/** The results with which a game can end. */
const RESULT = /^(1-0|0-1|1\/2-1\/2|\*)$/;
/** Maximum of both counts. Greater counts are read as this. */
const COUNT_MAX = 65_535;

/** What FEN tells behind board and turn. */
export interface FenFields {
  /** of `KQkq` */
  castling: string;
  enPassant: string;
  halfmoveClock: number;
  fullmoveNumber: number;
}

/** Where king and rook stand for as long as a side may castle. */
const HOMES: Record<string, [string, string][]> = {
  K: [['e1', 'K'], ['h1', 'R']],
  Q: [['e1', 'K'], ['a1', 'R']],
  k: [['e8', 'k'], ['h8', 'r']],
  q: [['e8', 'k'], ['a8', 'r']],
}; // prettier-ignore

/** The ways to castle for which king and rook stand where they began. */
export const possibleCastlingRights = (squares: PiecesBySquare) =>
  Object.entries(HOMES).flatMap(([way, homes]) =>
    homes.every(([square, piece]) => squares.get(square) === piece) ? [way] : [],
  );

export const toFenFields = (more: unknown): FenFields => ({
  ...{ castling: '', enPassant: '-', halfmoveClock: 0, fullmoveNumber: 1 },
  ...(more as Partial<FenFields> | undefined),
});

export const chess: Notation = {
  helpKey: 'setup.text.fen',
  initialPosition: () => FIRST.position,
  pieces: () => [...PIECES],
  transformations: ['mirror', 'swap'],
  swapSide: (piece) => (piece === piece.toUpperCase() ? piece.toLowerCase() : piece.toUpperCase()),
  flipsOnSwap: ['over'],
  read: (text, game) => {
    const { fen, moves } = positionFromPgn(text, RESULT);
    const { fields, moves: after } = splitFen(fen);
    const [rows = '', turn = 'w', castling = '-', passant = '-', quiet = '0', number = '1'] =
      fields;
    const squares = readGrid(rows, game, PIECES);
    if (turn !== 'w' && turn !== 'b')
      throw new PositionError('setup.bad.turn', { letter: turn, sides: ['w', 'b'].join(' ') });
    if (!/^(-|[KQkq]{1,4})$/.test(castling))
      throw new PositionError('setup.bad.castling', { text: castling });
    const lost = [...castling].find(
      (way) => way !== '-' && !possibleCastlingRights(squares).includes(way),
    );
    if (lost !== undefined) throw new PositionError('setup.bad.castle', { letter: lost });
    if (!/^(-|[a-h][36])$/.test(passant))
      throw new PositionError('setup.bad.passant', { text: passant });
    for (const count of [quiet, number])
      if (!/^\d+$/.test(count)) throw new PositionError('setup.bad.number', { text: count });
    const more: FenFields = {
      castling: [...'KQkq'].filter((way) => castling.includes(way)).join(''),
      ...{ enPassant: passant, halfmoveClock: Math.min(Number(quiet), COUNT_MAX) },
      fullmoveNumber: Math.min(Math.max(1, Number(number)), COUNT_MAX),
    };
    return { squares, turn: turn === 'w' ? 0 : 1, extraFields: more, moveCount: moves + after };
  },
  write: ({ squares, turn, extraFields: more }, game) => {
    const {
      castling,
      enPassant: passant,
      halfmoveClock: quiet,
      fullmoveNumber: number,
    } = toFenFields(more);
    const fields = [turn === 0 ? 'w' : 'b', castling || '-', passant, quiet, number];
    return `${writeGrid(squares, game, true)} ${fields.join(' ')}`;
  },
  updateExtraFields: (squares, more) => {
    const { castling } = toFenFields(more);
    const left = possibleCastlingRights(squares).filter((way) => castling.includes(way));
    // What was counted up to there is of another game.
    return { castling: left.join(''), enPassant: '-', halfmoveClock: 0, fullmoveNumber: 1 };
  },
  validate: (draft) => {
    const { squares, turn } = draft;
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
    // The king of whoever has moved last.
    const isWhite = turn === 1;
    const [square = ''] = pieces.find(([, piece]) => piece === (isWhite ? 'K' : 'k')) ?? [];
    return isAttacked(draft.board, square, isWhite) ? new PositionError('setup.why.check') : null;
  },
};
