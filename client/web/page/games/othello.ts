// Othello: a disc is put down, and all that it encloses turn over. As the field has it, the first
// rank lies on top.

import { s } from '../ui/dom.ts';
import { EMPTY } from '../model/fen.ts';
import { say } from '../text/language.ts';

const SIZE = 8;

export const customs: import('../model/games.ts').Customs = {
  sample: '--------------------O------**O----*OO*-----*O------------------ *',
  look: 'cloth',
  downwards: true,
  passes: 'forced',
  showsLegal: true,
  stars: ['b2', 'f2', 'b6', 'f6'],
  read: (position) => {
    const squares = [...(position.split(' ')[0] ?? '')].map((c) => (c === '-' ? EMPTY : c));
    return Array.from({ length: SIZE }, (_, row) => {
      const rank = SIZE - 1 - row;
      return squares.slice(rank * SIZE, (rank + 1) * SIZE);
    });
  },
  seatOf: (piece) => (piece === '*' ? 0 : 1),
  pieceOf: (seat) => (seat === 0 ? '*' : 'O'),
  piece: () => s('circle', { class: 'stone', r: 40 }),
  tally: (board) => {
    const counts = board.count();
    const discs = (piece: string) => {
      const count = counts.get(piece) ?? 0;
      return { says: say('othello.discs', { count }) };
    };
    return [discs('*'), discs('O')];
  },
  hint: say('hint.marked'),
  touchHint: say('hint.marked.touch'),
};
