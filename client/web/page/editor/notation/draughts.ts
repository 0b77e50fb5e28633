// Reads and writes positions of English draughts as FEN of PDN, with numbered squares.

import { EMPTY } from '../../model/fen.ts';
import { conventionsOf } from '../../model/game-conventions.ts';
import { Board } from '../../model/position.ts';
import { positionFromPgn } from './pgn.ts';
import { PositionError } from '../position-error.ts';

import type { Game } from '../../net/protocol.ts';
import type { Notation } from './notations.ts';

const SQUARES_MAX = 32;
const PIECES_MAX = 12;
/** The ranks on which a man becomes a king. */
const KING_RANKS: Record<string, string> = { b: '8', w: '1' };
const PDN_FEN = /^([BW]):([BW])([^:]*):([BW])([^:]*)(?::(H\d+(?::F\d+)?))?$/;
/** The result at the end of a game. `0-0` is a result only in PDN: in PGN it is castling. */
const RESULT = /^(1-0|0-1|1\/2-1\/2|2-0|0-2|1-1|0-0|\*)$/;

function squaresByNumber(game: Game) {
  const { squareLabel } = conventionsOf(game.game);
  const squares = [...new Board(game, '').squares()];
  return new Map(
    squares.map((square) => [squareLabel(square), square] as const).filter(([number]) => number),
  );
}

const crowned = (piece: string, square: string) =>
  KING_RANKS[piece] === square.slice(1) ? piece.toUpperCase() : piece;

export const draughts: Notation = {
  helpKey: 'setup.text.pdn',
  initialPosition: () => `B:W${numberRange(21, SQUARES_MAX)}:B${numberRange(1, PIECES_MAX)}:H0:F1`,
  pieces: () => ['b', 'B', 'w', 'W'],
  transformations: ['swap'],
  swapSide: (piece) => ({ b: 'w', w: 'b', B: 'W', W: 'B' })[piece] ?? piece,
  flipsOnSwap: ['across', 'over'],
  read: (text, game) => {
    const { fen, moves } = positionFromPgn(text, RESULT);
    const parts = PDN_FEN.exec(fen.replaceAll(/\s/g, '').replace(/\.$/, '').toUpperCase());
    const [, turn, firstSide, firstList = '', secondSide, secondList = '', counters] = parts ?? [];
    if (!parts || firstSide === secondSide) throw new PositionError('setup.bad.pdn');
    const squares = new Map<string, string>();
    placePieces(squares, firstSide === 'B' ? 'b' : 'w', firstList, game);
    placePieces(squares, secondSide === 'B' ? 'b' : 'w', secondList, game);
    return { squares, turn: turn === 'B' ? 0 : 1, extraFields: counters, moveCount: moves };
  },
  write: ({ squares, turn, extraFields }, game) => {
    const numbered = [...squaresByNumber(game)].map(([number, square]) => ({
      number: Number(number),
      piece: squares.get(square),
    }));
    const list = (man: string) =>
      numbered
        .filter(({ piece }) => piece?.toLowerCase() === man)
        .toSorted((a, b) => a.number - b.number)
        .map(({ number, piece }) => (piece === man ? String(number) : `K${number}`))
        .join();
    const counters = typeof extraFields === 'string' ? extraFields : 'H0:F1';
    return `${turn === 0 ? 'B' : 'W'}:W${list('w')}:B${list('b')}:${counters}`;
  },
  placePiece: (_, square, piece, game) => {
    if (conventionsOf(game.game).squareLabel(square) === '') return null;
    return { square, piece: piece === EMPTY ? piece : crowned(piece, square) };
  },
  // The halfmove clock starts again after an edit.
  updateExtraFields: (_, counters) =>
    typeof counters === 'string' ? counters.replace(/^H\d+/, 'H0') : counters,
  validate: ({ squares }) => {
    const pieces = [...squares.values()];
    const count = (man: string) => pieces.filter((piece) => piece.toLowerCase() === man).length;
    const [black, white] = [count('b'), count('w')];
    if (black === 0 || white === 0) return new PositionError('setup.why.none');
    return black > PIECES_MAX || white > PIECES_MAX
      ? new PositionError('setup.why.men', { most: PIECES_MAX })
      : null;
  },
};

const numberRange = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).join();

/** @param list numbers and ranges of numbers; `K` marks kings */
function placePieces(squares: Map<string, string>, man: 'b' | 'w', list: string, game: Game) {
  const numbered = squaresByNumber(game);
  for (const item of list.split(',').filter(Boolean)) {
    const [, king, from = '', to = from] = /^(K?)(\d{1,2})(?:-(\d{1,2}))?$/.exec(item) ?? [];
    const isRange = king !== undefined && Number(from) <= Number(to) && Number(to) <= SQUARES_MAX;
    if (!isRange || Number(from) < 1) throw new PositionError('setup.bad.square', { text: item });
    for (let number = Number(from); number <= Number(to); number++) {
      const square = numbered.get(String(number)) ?? '';
      if (squares.has(square)) throw new PositionError('setup.bad.twice', { text: String(number) });
      if (!king && crowned(man, square) !== man)
        throw new PositionError('setup.bad.man', { text: String(number) });
      squares.set(square, king ? man.toUpperCase() : man);
    }
  }
}
