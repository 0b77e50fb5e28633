// Connect Four: a move names a file, and its disc falls to the lowest free square behind a plate
// with holes.

import { s } from '../ui/dom.ts';
import { say } from '../text/language.ts';

export const customs: import('../model/games.ts').Customs = {
  sample: '......./......./......./...y.../..rr.../.yryr..',
  look: 'plate',
  falls: true,
  piece: (seat) =>
    s(
      'g',
      {},
      s('circle', { class: 'disc', r: 42 }),
      // Told apart without colours: a ring in the one, a cross in the other.
      seat === 0
        ? s('circle', { class: 'mark', r: 24 })
        : s('path', { class: 'mark', d: 'M-20 0H20M0-20V20' }),
    ),
  squares: (move, board) => {
    const file = Number(move) - 1;
    return Array.from({ length: board.ranks }, (_, rank) => board.name(file, rank));
  },
  landing: (move, board) => {
    const file = Number(move) - 1;
    const rank = Array.from({ length: board.ranks }, (_, rank) => rank);
    const free = rank.find((rank) => board.at(board.name(file, rank)) === '.');
    return free === undefined ? null : board.name(file, free);
  },
  key: (key) => (/^[1-9]$/.test(key) ? key : null),
  sayMove: (move) => say('connect-four.column', { column: move }),
  line: () => say('line.four'),
  fileLabel: (file) => String(file + 1),
  rankLabel: () => '',
  hint: say('hint.column'),
  touchHint: say('hint.column.touch'),
};
