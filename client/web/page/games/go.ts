// Go on nine lines: stones on the crossings, which have letters without I, as players have them.

import { svg } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

const LETTERS = 'ABCDEFGHJ';
/** What white has for moving second. */
const KOMI = 7;

/** A square's name as the board has it. */
const squareOf = (vertex: string) => {
  const file = LETTERS.indexOf(vertex.charAt(0));
  return `${String.fromCharCode(97 + file)}${vertex.slice(1)}`;
};

const letter = (file: number) => LETTERS.charAt(file);

export const conventions: import('../model/game-conventions.ts').GameConventions = {
  sample:
    '........./..b...w../..b.w.w../.....w.../..b.b.w../...b.bw../..b.bbw../...b.w.../......... b 0 0 0 18',
  boardStyle: 'crossings',
  passRule: 'freely',
  starPoints: ['c3', 'g3', 'e5', 'c7', 'g7'],
  drawPiece: () => svg('circle', { class: 'stone', r: 45 }),
  path: (move) => (move === 'pass' ? [] : [squareOf(move)]),
  tally: (board) => {
    const [, , black = '0', white = '0'] = board.position.split(' ');
    const taken = (count: string) =>
      count === '0' ? '' : translate('go.captured', { count: Number(count) });
    const komi = [taken(white), translate('go.komi', { komi: KOMI })].filter(Boolean).join(', ');
    const shown = [taken(white), translate('go.komi.short', { komi: KOMI })]
      .filter(Boolean)
      .join(', ');
    return [{ text: taken(black) }, { text: komi, shortText: shown }];
  },
  squareLabel: (square) => `${letter(square.charCodeAt(0) - 97)}${square.slice(1)}`,
  fileLabel: letter,
  afterPassText: translate('go.passed'),
  forcedMoveText: () => '',
  howToPlay: translate('hint.go'),
  howToPlayByTouch: translate('hint.go.touch'),
  scoringNote: translate('go.scored', { komi: KOMI }),
};
