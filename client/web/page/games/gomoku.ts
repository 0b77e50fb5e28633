// Display conventions of Gomoku.

import { svg } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { GameConventions } from '../model/game-conventions.ts';

export const conventions: GameConventions = {
  sample: '15/15/15/15/8w6/7b1w5/5w1bb6/6bbbw5/5w1wb6/6w2b5/5b9/15/15/15/15',
  boardStyle: 'crossings',
  starPoints: ['d4', 'l4', 'h8', 'd12', 'l12'],
  drawPiece: () => svg('circle', { class: 'stone', r: 44 }),
  describeWinningLine: (squares) =>
    squares.length === 5
      ? translate('line.five')
      : translate('line.count', { count: squares.length }),
  howToPlay: translate('hint.crossing'),
  howToPlayByTouch: translate('hint.crossing.touch'),
};
