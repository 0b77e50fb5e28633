// What there is to be known of each game before one plays it.

/**
 * @typedef {object} Rules
 * @property {string} position what the board shows
 * @property {string} [move] the move that has led there, or could be played there
 * @property {string[]} [line]
 * @property {string[]} [targets]
 * @property {string[]} [way]
 * @property {string} caption what is to be seen
 * @property {string[]} says
 */

/** @type {Map<string, Rules>} */
export const RULES = new Map([
  [
    'tic-tac-toe',
    {
      position: 'x.o/ox./..x',
      line: ['a3', 'b2', 'c1'],
      caption: 'Three in a row: x wins.',
      says: [
        'Both in turn put their mark on a free square; x begins.',
        'Three of one’s own in a row, a column or a diagonal win.',
        'If the board is full and nobody has three, it is a draw.',
      ],
    },
  ],
  [
    'connect-four',
    {
      position: '......./......./......./...yy../..yrr../.yrrrr.',
      line: ['c1', 'd1', 'e1', 'f1'],
      caption: 'Four in a row: red wins.',
      says: [
        'Both in turn drop a disc into a column; it falls to the lowest free place. Red begins.',
        'Four of one’s own in a row win: across, upwards or slanting.',
        'If the board is full and nobody has four, it is a draw.',
      ],
    },
  ],
  [
    'othello',
    {
      position: '---------------------------O*------*O--------------------------- *',
      targets: ['d3', 'c4', 'f5', 'e6'],
      caption: 'Black may play on the dots: each encloses a white disc.',
      says: [
        'Both in turn put down a disc so that it encloses discs of the other, in a straight or slanting line, between itself and another of one’s own. Black begins.',
        'All discs that are enclosed turn over.',
        'Who can enclose nothing has to pass. If neither can, the match is over.',
        'Who has more discs then wins.',
      ],
    },
  ],
  [
    'draughts',
    {
      position: 'W:W22,31,32:B1,2,11,18:H0:F20',
      move: '22x15x8',
      caption: 'The white man captures twice: from 22 over 18 to 15, and over 11 to 8.',
      says: [
        'Men go one step ahead, slanting, to a free dark square. Black begins.',
        'A piece jumps over one of the other’s that stands next to it if the square behind is free, and captures it. It goes on as long as it can.',
        'Who can capture has to, but may choose how.',
        'A man that reaches the last rank becomes a king, which goes back, too. That ends its move.',
        'Who cannot move any more has lost. The same position three times is a draw, and so are forty moves on each side without a capture or a man’s move.',
      ],
    },
  ],
  [
    'chess',
    {
      position: 'r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R w KQkq - 0 5',
      way: ['f3'],
      targets: ['d2', 'd4', 'e5', 'g1', 'g5', 'h4'],
      caption: 'The knight on f3 can go to the dots, and capture on e5.',
      says: [
        'White begins. A piece goes to a free square, or captures what the other has there.',
        'Rooks go straight, bishops slanting, the queen both; the king one step; knights two squares straight and one aside, over others.',
        'Pawns go one step ahead, at first two if they like, capture slanting, also in passing, and become another piece on the last rank.',
        'Castling: the king goes two squares towards a rook, if neither has moved, nothing stands between, and nothing on its way is attacked.',
        'A king that is attacked has to be saved. If it cannot be, that is checkmate, and lost; without a move and without check it is a draw.',
      ],
    },
  ],
  [
    'gomoku',
    {
      position: '15/15/15/15/15/15/5wwww6/4bbbbbw5/6w8/15/15/15/15/15/15',
      line: ['e8', 'f8', 'g8', 'h8', 'i8'],
      caption: 'Five in a row: black wins.',
      says: [
        'Both in turn put a stone on a free crossing; black begins.',
        'Five of one’s own in a row win, or more: across, upwards or slanting.',
        'If the board is full and nobody has five, it is a draw.',
      ],
    },
  ],
  [
    'go',
    {
      position:
        '........./........./......b../...b..w../..bw..w../...b...b./........./........./......... b 0 0 0 9',
      targets: ['e5'],
      caption: 'A black stone on the dot takes the last liberty of the white one, and captures it.',
      says: [
        'Both in turn put a stone on a free crossing, or pass; black begins.',
        'Stones of one colour that touch along the lines are a group; free crossings beside it are its liberties. A group without liberties is captured and taken off.',
        'No stone may leave its own group without liberties, and none may bring back an earlier position of the board.',
        'Two passes end the match. Capture before what cannot live: all stones that are on the board then count.',
        'One’s points are one’s stones and the free crossings that they alone enclose; white has 7 more for moving second.',
      ],
    },
  ],
]);
