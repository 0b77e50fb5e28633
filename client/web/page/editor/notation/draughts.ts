// English draughts: FEN as PDN has it, with the numbers of the squares.

import { EMPTY } from '../../model/fen.ts';
import { conventionsOf } from '../../model/game-conventions.ts';
import { Board } from '../../model/position.ts';
import { positionFromPgn } from './pgn.ts';
import { PositionError } from '../position-error.ts';

import type { Game } from '../../net/protocol.ts';
import type { Notation } from './notations.ts';

const SQUARES = 32;
const MEN = 12;
/** The rows on which a man becomes a king. */
const LAST = { b: '8', w: '1' };
const LISTS = /^([BW]):([BW])([^:]*):([BW])([^:]*)(?::(H\d+(?::F\d+)?))?$/;
/** The results with which a game can end. `0-0` is one in PDN only: in PGN it is castling. */
const RESULT = /^(1-0|0-1|1\/2-1\/2|2-0|0-2|1-1|0-0|\*)$/;

/** Those that have a number, by it. */
function numbered(game: Game) {
  const { squareLabel: label } = conventionsOf(game.game);
  const all = [...new Board(game, '').squares()];
  return new Map(all.map((square) => [label?.(square), square] as const).filter(([at]) => at));
}

const crowned = (piece: string, square: string) =>
  (LAST as Record<string, string>)[piece] === square.slice(1) ? piece.toUpperCase() : piece;

export const draughts: Notation = {
  helpKey: 'setup.text.pdn',
  initialPosition: () => `B:W${numbers(21, SQUARES)}:B${numbers(1, MEN)}:H0:F1`,
  pieces: () => ['b', 'B', 'w', 'W'],
  transformations: ['swap'],
  swapSide: (piece) => ({ b: 'w', w: 'b', B: 'W', W: 'B' })[piece] ?? piece,
  flipsOnSwap: ['across', 'over'],
  read: (text, game) => {
    const { fen, moves } = positionFromPgn(text, RESULT);
    const parts = LISTS.exec(fen.replaceAll(/\s/g, '').replace(/\.$/, '').toUpperCase());
    const [, turn, one, first = '', other, second = '', more] = parts ?? [];
    if (!parts || one === other) throw new PositionError('setup.bad.pdn');
    const squares = new Map();
    placeAll(squares, one === 'B' ? 'b' : 'w', first, game);
    placeAll(squares, other === 'B' ? 'b' : 'w', second, game);
    return { squares, turn: turn === 'B' ? 0 : 1, extraFields: more, moveCount: moves };
  },
  write: ({ squares, turn, extraFields: more }, game) => {
    const all = [...numbered(game)].map(([at, square]) => ({
      at: Number(at),
      on: squares.get(square),
    }));
    const list = (man: string) =>
      all
        .filter(({ on }) => on?.toLowerCase() === man)
        .toSorted((a, b) => a.at - b.at)
        .map(({ at, on }) => (on === man ? String(at) : `K${at}`))
        .join();
    const counts = typeof more === 'string' ? more : 'H0:F1';
    return `${turn === 0 ? 'B' : 'W'}:W${list('w')}:B${list('b')}:${counts}`;
  },
  placePiece: (_, square, piece, game) => {
    const isOut = conventionsOf(game.game).squareLabel?.(square) === '';
    if (isOut) return null;
    return { square, piece: piece === EMPTY ? piece : crowned(piece, square) };
  },
  // For how long nothing was captured is known no more.
  updateExtraFields: (_, more) => (typeof more === 'string' ? more.replace(/^H\d+/, 'H0') : more),
  validate: ({ squares }) => {
    const pieces = [...squares.values()];
    const count = (man: string) => pieces.filter((piece) => piece.toLowerCase() === man).length;
    const [black, white] = [count('b'), count('w')];
    if (black === 0 || white === 0) return new PositionError('setup.why.none');
    return black > MEN || white > MEN ? new PositionError('setup.why.men', { most: MEN }) : null;
  },
};

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at).join();

/** @param list numbers, kings with K, and ranges of them */
function placeAll(squares: Map<string, string>, man: 'b' | 'w', list: string, game: Game) {
  const names = numbered(game);
  for (const item of list.split(',').filter(Boolean)) {
    const [, king, from = '', to = from] = /^(K?)(\d{1,2})(?:-(\d{1,2}))?$/.exec(item) ?? [];
    const isRange = king !== undefined && Number(from) <= Number(to) && Number(to) <= SQUARES;
    if (!isRange || Number(from) < 1) throw new PositionError('setup.bad.square', { text: item });
    for (let at = Number(from); at <= Number(to); at++) {
      const square = names.get(String(at)) ?? '';
      if (squares.has(square)) throw new PositionError('setup.bad.twice', { text: String(at) });
      if (!king && crowned(man, square) !== man)
        throw new PositionError('setup.bad.man', { text: String(at) });
      squares.set(square, king ? man.toUpperCase() : man);
    }
  }
}
