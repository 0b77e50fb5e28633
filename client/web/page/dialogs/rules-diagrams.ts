// Positions of the boards in the rules dialogs. The texts of the rules are in `locales`.

export interface RulesDiagram {
  position: string;
  /** the move to mark: the last move or a possible one */
  move?: string;
  winningLine?: string[];
  targets?: string[];
  selectedSquares?: string[];
}

export const RULES_DIAGRAMS: Map<string, RulesDiagram> = new Map([
  [
    'tic-tac-toe',
    {
      position: 'x.o/ox./..x',
      winningLine: ['a3', 'b2', 'c1'],
    },
  ],
  [
    'connect-four',
    {
      position: '......./......./......./...yy../..yrr../.yrrrr.',
      winningLine: ['c1', 'd1', 'e1', 'f1'],
    },
  ],
  [
    'othello',
    {
      position: '---------------------------O*------*O--------------------------- *',
      targets: ['d3', 'c4', 'f5', 'e6'],
    },
  ],
  [
    'draughts',
    {
      position: 'W:W22,31,32:B1,2,11,18:H0:F20',
      move: '22x15x8',
    },
  ],
  [
    'chess',
    {
      position: 'r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R w KQkq - 0 5',
      selectedSquares: ['f3'],
      targets: ['d2', 'd4', 'e5', 'g1', 'g5', 'h4'],
    },
  ],
  [
    'gomoku',
    {
      position: '15/15/15/15/15/15/5wwww6/4bbbbbw5/6w8/15/15/15/15/15/15',
      winningLine: ['e8', 'f8', 'g8', 'h8', 'i8'],
    },
  ],
  [
    'go',
    {
      position:
        '........./........./......b../...b..w../..bw..w../...b...b./........./........./......... b 0 0 0 9',
      targets: ['e5'],
    },
  ],
]);
