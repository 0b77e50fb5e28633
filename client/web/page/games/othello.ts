// Display conventions of Othello. By custom, the first rank is at the top.

import { svg } from '../ui/dom.ts';
import { EMPTY } from '../model/fen.ts';
import { translate } from '../text/language.ts';

import type { GameConventions } from '../model/game-conventions.ts';

const SIZE = 8;

export const conventions: GameConventions = {
  sample: '--------------------O------**O----*OO*-----*O------------------ *',
  boardStyle: 'cloth',
  isFirstRankOnTop: true,
  passRule: 'forced',
  showsLegalMoves: true,
  starPoints: ['b2', 'f2', 'b6', 'f6'],
  readRanks: (position) => {
    const squares = [...(position.split(' ')[0] ?? '')].map((c) => (c === '-' ? EMPTY : c));
    return Array.from({ length: SIZE }, (_, row) => {
      const rank = SIZE - 1 - row;
      return squares.slice(rank * SIZE, (rank + 1) * SIZE);
    });
  },
  seatOf: (piece) => (piece === '*' ? 0 : 1),
  pieceOf: (seat) => (seat === 0 ? '*' : 'O'),
  drawPiece: () => svg('circle', { class: 'stone', r: 40 }),
  tally: (board) => {
    const counts = board.countPieces();
    const discs = (piece: string) => {
      const count = counts.get(piece) ?? 0;
      return { text: translate('othello.discs', { count }) };
    };
    return [discs('*'), discs('O')];
  },
  howToPlay: translate('hint.marked'),
  howToPlayByTouch: translate('hint.marked.touch'),
};
