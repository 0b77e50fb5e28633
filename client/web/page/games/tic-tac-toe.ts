// Display conventions of tic-tac-toe. The digits of the number pad play the squares in the same
// layout.

import { svg } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { GameConventions } from '../model/game-conventions.ts';

export const conventions: GameConventions = {
  sample: 'o.x/.x./..o',
  boardStyle: 'tiles',
  drawPiece: (seat) =>
    seat === 0
      ? svg('path', { class: 'stroke', pathLength: 1, d: 'M-24-24 24 24M24-24-24 24' })
      : svg('circle', { class: 'stroke', pathLength: 1, r: 27, transform: 'rotate(-90)' }),
  moveForKey: (key) => {
    const number = Number.parseInt(key, 10) - 1;
    return number >= 0 && number < 9 && key.length === 1
      ? `${'abc'[number % 3]}${Math.floor(number / 3) + 1}`
      : null;
  },
  usesNumpad: true,
  howToPlay: translate('hint.pad'),
};
