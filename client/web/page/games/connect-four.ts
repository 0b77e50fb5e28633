// Display conventions of Connect Four. A move names a file, and the disc falls to the lowest free
// square.

import { svg } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { GameConventions } from '../model/game-conventions.ts';

export const conventions: GameConventions = {
  sample: '......./......./......./...y.../..rr.../.yryr..',
  boardStyle: 'plate',
  hasGravity: true,
  drawPiece: (seat) =>
    svg(
      'g',
      {},
      svg('circle', { class: 'disc', r: 42 }),
      // A ring or a cross distinguishes the discs without colours.
      seat === 0
        ? svg('circle', { class: 'mark', r: 24 })
        : svg('path', { class: 'mark', d: 'M-20 0H20M0-20V20' }),
    ),
  clickSquares: (move, board) => {
    const file = Number(move) - 1;
    return Array.from({ length: board.ranks }, (_, rank) => board.squareName(file, rank));
  },
  destination: (move, board) => {
    const file = Number(move) - 1;
    const ranks = Array.from({ length: board.ranks }, (_, rank) => rank);
    const free = ranks.find((rank) => board.isEmpty(board.squareName(file, rank)));
    return free === undefined ? null : board.squareName(file, free);
  },
  moveForKey: (key) => (/^[1-9]$/.test(key) ? key : null),
  describeMove: (move) => translate('connect-four.column', { column: move }),
  describeWinningLine: () => translate('line.four'),
  fileLabel: (file) => String(file + 1),
  rankLabel: () => '',
  howToPlay: translate('hint.column'),
  howToPlayByTouch: translate('hint.column.touch'),
};
