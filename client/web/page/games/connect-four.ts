// Connect Four: a move names a file, and its disc falls to the lowest free square behind a plate
// with holes.

import { svg } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

export const conventions: import('../model/game-conventions.ts').GameConventions = {
  sample: '......./......./......./...y.../..rr.../.yryr..',
  boardStyle: 'plate',
  hasGravity: true,
  drawPiece: (seat) =>
    svg(
      'g',
      {},
      svg('circle', { class: 'disc', r: 42 }),
      // Told apart without colours: a ring in the one, a cross in the other.
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
    const rank = Array.from({ length: board.ranks }, (_, rank) => rank);
    const free = rank.find((rank) => board.pieceAt(board.squareName(file, rank)) === '.');
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
