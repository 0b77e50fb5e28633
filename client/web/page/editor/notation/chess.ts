// Chess: FEN. Of its six fields the last four may be missing. Or EPD, which has operations behind the fourth.

import { isAttacked } from '../attacked.ts';
import { splitFen } from './epd.ts';
import { countOf, readGrid, writeGrid } from './grid.ts';
import { positionOf } from './pgn.ts';
import { Wrong } from '../position-error.ts';

import type { Squares } from '../draft.ts';
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
export interface More {
  /** of `KQkq` */
  castling: string;
  passant: string;
  quiet: number;
  number: number;
}

/** Where king and rook stand for as long as a side may castle. */
const HOMES: Record<string, [string, string][]> = {
  K: [['e1', 'K'], ['h1', 'R']],
  Q: [['e1', 'K'], ['a1', 'R']],
  k: [['e8', 'k'], ['h8', 'r']],
  q: [['e8', 'k'], ['a8', 'r']],
}; // prettier-ignore

/** The ways to castle for which king and rook stand where they began. */
export const mayCastle = (squares: Squares) =>
  Object.entries(HOMES).flatMap(([way, homes]) =>
    homes.every(([square, piece]) => squares.get(square) === piece) ? [way] : [],
  );

export const moreOf = (more: unknown): More => ({
  ...{ castling: '', passant: '-', quiet: 0, number: 1 },
  ...(more as Partial<More> | undefined),
});

export const chess: Notation = {
  about: 'setup.text.fen',
  first: () => FIRST.position,
  pieces: () => [...PIECES],
  ways: ['mirror', 'swap'],
  swaps: (piece) => (piece === piece.toUpperCase() ? piece.toLowerCase() : piece.toUpperCase()),
  swapTurns: ['over'],
  read: (text, game) => {
    const { fen, moves } = positionOf(text, RESULT);
    const { fields, moves: after } = splitFen(fen);
    const [rows = '', turn = 'w', castling = '-', passant = '-', quiet = '0', number = '1'] =
      fields;
    const squares = readGrid(rows, game, PIECES);
    if (turn !== 'w' && turn !== 'b')
      throw new Wrong('setup.bad.turn', { letter: turn, sides: ['w', 'b'].join(' ') });
    if (!/^(-|[KQkq]{1,4})$/.test(castling))
      throw new Wrong('setup.bad.castling', { text: castling });
    const lost = [...castling].find((way) => way !== '-' && !mayCastle(squares).includes(way));
    if (lost !== undefined) throw new Wrong('setup.bad.castle', { letter: lost });
    if (!/^(-|[a-h][36])$/.test(passant)) throw new Wrong('setup.bad.passant', { text: passant });
    for (const count of [quiet, number])
      if (!/^\d+$/.test(count)) throw new Wrong('setup.bad.number', { text: count });
    const more: More = {
      castling: [...'KQkq'].filter((way) => castling.includes(way)).join(''),
      ...{ passant, quiet: Math.min(Number(quiet), COUNT_MAX) },
      number: Math.min(Math.max(1, Number(number)), COUNT_MAX),
    };
    return { squares, turn: turn === 'w' ? 0 : 1, more, moves: moves + after };
  },
  write: ({ squares, turn, more }, game) => {
    const { castling, passant, quiet, number } = moreOf(more);
    const fields = [turn === 0 ? 'w' : 'b', castling || '-', passant, quiet, number];
    return `${writeGrid(squares, game, true)} ${fields.join(' ')}`;
  },
  kept: (squares, more) => {
    const { castling } = moreOf(more);
    const left = mayCastle(squares).filter((way) => castling.includes(way));
    // What was counted up to there is of another game.
    return { castling: left.join(''), passant: '-', quiet: 0, number: 1 };
  },
  wrong: (draft) => {
    const { squares, turn } = draft;
    const pieces = [...squares];
    if (countOf(squares, 'K') !== 1 || countOf(squares, 'k') !== 1)
      return new Wrong('setup.why.kings');
    if (pieces.some(([square, piece]) => /p/i.test(piece) && /[18]$/.test(square)))
      return new Wrong('setup.why.pawns');
    for (const side of [/[A-Z]/, /[a-z]/]) {
      const own = pieces.filter(([, piece]) => side.test(piece));
      const pawns = own.filter(([, piece]) => /p/i.test(piece));
      if (own.length > PIECES_MAX || pawns.length > PAWNS_MAX)
        return new Wrong('setup.why.many', { most: PIECES_MAX, pawns: PAWNS_MAX });
    }
    // The king of whoever has moved last.
    const isWhite = turn === 1;
    const [square = ''] = pieces.find(([, piece]) => piece === (isWhite ? 'K' : 'k')) ?? [];
    return isAttacked(draft.board, square, isWhite) ? new Wrong('setup.why.check') : null;
  },
};
