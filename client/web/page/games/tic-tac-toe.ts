// Tic-tac-toe: a cross and a ring, and the number pad, whose rows lie as those of the board do.

import { s } from '../ui/dom.ts';
import { say } from '../text/language.ts';

export const customs: import('../model/games.ts').Customs = {
  sample: 'o.x/.x./..o',
  look: 'tiles',
  piece: (seat) =>
    seat === 0
      ? s('path', { class: 'stroke', pathLength: 1, d: 'M-24-24 24 24M24-24-24 24' })
      : s('circle', { class: 'stroke', pathLength: 1, r: 27, transform: 'rotate(-90)' }),
  key: (key) => {
    const number = Number.parseInt(key, 10) - 1;
    return number >= 0 && number < 9 && key.length === 1
      ? `${'abc'[number % 3]}${Math.floor(number / 3) + 1}`
      : null;
  },
  pad: true,
  hint: say('hint.pad'),
};
