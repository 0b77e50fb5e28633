// Gomoku: stones on the crossings of a large board; five in a row win.

import { s } from '../ui/dom.ts';
import { say } from '../text/language.ts';

export const customs: import('../model/games.ts').Customs = {
  sample: '15/15/15/15/8w6/7b1w5/5w1bb6/6bbbw5/5w1wb6/6w2b5/5b9/15/15/15/15',
  look: 'crossings',
  stars: ['d4', 'l4', 'h8', 'd12', 'l12'],
  piece: () => s('circle', { class: 'stone', r: 44 }),
  line: (squares) =>
    squares.length === 5 ? say('line.five') : say('line.count', { count: squares.length }),
  hint: say('hint.crossing'),
  touchHint: say('hint.crossing.touch'),
};
