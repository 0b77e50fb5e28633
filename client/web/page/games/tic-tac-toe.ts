// Tic-tac-toe: a cross and a ring, and the number pad, whose rows lie as those of the board do.

import { svg } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

export const conventions: import('../model/game-conventions.ts').GameConventions = {
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
