// Display conventions of Go on a board of 9 by 9. Vertices use letters without I.

import { svg } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { GameConventions } from '../model/game-conventions.ts';

const LETTERS = 'ABCDEFGHJ';
/** Points that white gets for moving second. */
const KOMI = 7;

/** Converts a vertex such as `J9` to the board's square name, `i9`. */
const squareOf = (vertex: string) => {
  const file = LETTERS.indexOf(vertex.charAt(0));
  return `${String.fromCharCode(97 + file)}${vertex.slice(1)}`;
};

const letter = (file: number) => LETTERS.charAt(file);

export const conventions: GameConventions = {
  sample:
    '........./..b...w../..b.w.w../.....w.../..b.b.w../...b.bw../..b.bbw../...b.w.../......... b 0 0 0 18',
  boardStyle: 'crossings',
  passRule: 'freely',
  starPoints: ['c3', 'g3', 'e5', 'c7', 'g7'],
  drawPiece: () => svg('circle', { class: 'stone', r: 45 }),
  path: (move) => (move === 'pass' ? [] : [squareOf(move)]),
  tally: (board) => {
    const [, , black = '0', white = '0'] = board.position.split(' ');
    const captured = (count: string) =>
      count === '0' ? '' : translate('go.captured', { count: Number(count) });
    const withKomi = (komi: string) => [captured(white), komi].filter(Boolean).join(', ');
    return [
      { text: captured(black) },
      {
        text: withKomi(translate('go.komi', { komi: KOMI })),
        shortText: withKomi(translate('go.komi.short', { komi: KOMI })),
      },
    ];
  },
  squareLabel: (square) => `${letter(square.charCodeAt(0) - 97)}${square.slice(1)}`,
  fileLabel: letter,
  afterPassText: translate('go.passed'),
  forcedMoveText: () => '',
  howToPlay: translate('hint.go'),
  howToPlayByTouch: translate('hint.go.touch'),
  scoringNote: translate('go.scored', { komi: KOMI }),
};
