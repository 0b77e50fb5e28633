// Display conventions of English draughts. Moves and positions use the square numbers of PDN.

import { svg } from '../ui/dom.ts';
import { EMPTY } from '../model/fen.ts';
import { tryTranslate, translate } from '../text/language.ts';

import type { GameConventions } from '../model/game-conventions.ts';

const SIZE = 8;
const MEN = 12;

/** Coordinates of a numbered square: 1 to 4 are g1, e1, c1, a1; 5 to 8 are h2, f2, d2, b2. */
function coordinatesOf(number: number) {
  const rank = Math.floor((number - 1) / 4);
  const file = SIZE - 2 + (rank % 2) - 2 * ((number - 1) % 4);
  return { file, rank };
}

const nameOf = (number: number) => {
  const { file, rank } = coordinatesOf(number);
  return `${String.fromCharCode(97 + file)}${rank + 1}`;
};

/** The number of every dark square. */
const NUMBERS = new Map(
  Array.from({ length: (SIZE * SIZE) / 2 }, (_, index) => [nameOf(index + 1), index + 1] as const),
);

const isCapture = (move: string) => move.includes('x');

export const conventions: GameConventions = {
  sample: 'B:W18,21,23,24,26,28,30,K3:B2,5,7,9,11,12,14,K31:H0:F20',
  boardStyle: 'chequers',
  hasOrientation: true,
  labelledSquares: 'all',
  readRanks: (position) => {
    const ranks = Array.from({ length: SIZE }, () => Array.from({ length: SIZE }, () => EMPTY));
    for (const [, side = '', pieces = ''] of position.matchAll(/:([WB])([K\d,]*)/g)) {
      for (const [, king, number] of pieces.matchAll(/(K?)(\d+)/g)) {
        const { file, rank } = coordinatesOf(Number(number));
        const row = ranks[SIZE - 1 - rank];
        // The page writes kings as capital letters.
        if (row) row[file] = king ? side : side.toLowerCase();
      }
    }
    return ranks;
  },
  seatOf: (piece) => (piece.toLowerCase() === 'b' ? 0 : 1),
  pieceOf: (seat) => (seat === 0 ? 'b' : 'w'),
  drawPiece: (_, piece) => (piece === piece.toUpperCase() ? king() : man()),
  pieceName: (piece) => tryTranslate(`draughts.${piece}`) ?? piece,
  path: (move) => move.split(/[-x]/).map((number) => nameOf(Number(number))),
  forcedMoveText: (legal) => (legal.some(isCapture) ? translate('forced.capture') : ''),
  tally: (board) => {
    const counts = board.countPieces();
    const tallies = ['b', 'w'].map((man) => {
      const king = man.toUpperCase();
      const captured = MEN - (counts.get(man) ?? 0) - (counts.get(king) ?? 0);
      const pieces = Array.from({ length: Math.max(0, captured) }, () => man);
      return { pieces, text: captured > 0 ? translate('draughts.taken', { count: captured }) : '' };
    });
    const [black, white] = tallies;
    return [white ?? { text: '' }, black ?? { text: '' }];
  },
  describeMove: (move) => {
    const key = isCapture(move) ? 'draughts.capture' : 'draughts.step';
    return move.split(/[-x]/).reduce((from, to) => translate(key, { from, to }));
  },
  squareLabel: (square) => String(NUMBERS.get(square) ?? ''),
  fileLabel: () => '',
  rankLabel: () => '',
  howToPlay: translate('hint.piece'),
  howToPlayByTouch: translate('hint.piece.touch'),
};

const man = () =>
  svg(
    'g',
    { class: 'draughtsman' },
    svg('circle', { class: 'body', r: 37 }),
    svg('circle', { class: 'lines', r: 28 }),
    svg('circle', { class: 'lines', r: 16 }),
  );

const king = () =>
  svg(
    'g',
    { class: 'draughtsman' },
    svg('circle', { class: 'body', r: 37, cy: 5 }),
    svg('circle', { class: 'body', r: 37, cy: -4 }),
    svg('circle', { class: 'lines', r: 30, cy: -4 }),
    svg('path', { class: 'crown', d: 'M-17 11h34l4-25-12 9L0-22-9-5l-12-9z' }),
  );
