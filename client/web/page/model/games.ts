// What a game needs beside what the wire tells of every game. Nothing here must be known: a game
// without customs is drawn and played all the same.

import { readRanks } from './fen.ts';
import { customs as chess } from '../games/chess.ts';
import { customs as connectFour } from '../games/connect-four.ts';
import { customs as draughts } from '../games/draughts.ts';
import { customs as go } from '../games/go.ts';
import { customs as gomoku } from '../games/gomoku.ts';
import { customs as othello } from '../games/othello.ts';
import { customs as ticTacToe } from '../games/tic-tac-toe.ts';
import { list, say } from '../text/language.ts';

import type { Board } from './position.ts';

/** What the two seats have brought about so far, beside the board. */
export interface Tally {
  says: string;
  /** as positions write them, to be drawn */
  pieces?: string[];
  /** what is shown beside them of what is said */
  shown?: string;
}

/** One of several moves that look alike until one says what becomes of the piece. */
export interface Choice {
  move: string;
  title: string;
  /** as positions write it, to be drawn */
  piece?: string;
}

export interface Customs {
  /** a position that shows what the game is like */
  sample?: string;
  /** how the board is drawn */
  look?: 'tiles' | 'plate' | 'chequers' | 'cloth' | 'crossings';
  /** the crossings that are marked */
  stars?: string[];
  /** whether the first rank lies on top */
  downwards?: boolean;
  /** whether the players sit face to face, so that each has the board turned towards themselves */
  faces?: boolean;
  /** whether one may pass: instead of any move, or only where nothing else is possible */
  passes?: 'freely' | 'forced';
  /** whether a piece falls into its square from above */
  falls?: boolean;
  /** what stands on the board: ranks from the highest, one character a square, a dot where nothing stands */
  read?: (position: string) => string[][];
  /** whose piece this is */
  seatOf?: (piece: string) => number;
  /** what a seat plays with, as positions write it */
  pieceOf?: (seat: number) => string;
  /** a piece around the origin, in a square of 100 by 100 */
  piece?: (seat: number, piece: string) => SVGElement;
  /** a piece by its name */
  sayPiece?: (piece: string) => string;
  /** the squares of a move, in the order in which its piece comes there; a single one is where a piece is put */
  path?: (move: string, board: Board) => string[];
  /** the squares by each of which a move is chosen that takes up no piece */
  squares?: (move: string, board: Board) => string[];
  /** the square on which the piece of a move comes to stand */
  landing?: (move: string, board: Board) => string | null;
  /** what is told of moves that go over the same squares, the most usual first */
  choices?: (moves: string[], board: Board) => Choice[];
  /** whether the squares on which one may play are marked */
  showsLegal?: boolean;
  /** what the rules demand of whoever is to move */
  forced?: (legal: string[]) => string;
  /** what is to be known when the other one has passed */
  afterPass?: string;
  /** where the king of the side to move stands */
  king?: (board: Board) => string | null;
  tally?: (board: Board) => [Tally, Tally];
  /** the move that a key stands for */
  key?: (key: string) => string | null;
  /** whether the number pad plays even where it would move the cursor */
  pad?: boolean;
  /** a move in a sentence; `before` is the board that it was played on, where that is known */
  sayMove?: (move: string, before: Board | null) => string;
  /** what is said of the winning line */
  line?: (squares: string[]) => string;
  /** what players call a square; nothing, if none ever stands there */
  label?: (square: string) => string;
  fileLabel?: (file: number) => string;
  rankLabel?: (rank: number) => string;
  /** which squares carry their labels themselves */
  inside?: 'all' | 'edges';
  /** what is to be known of a move that is chosen ahead */
  becomes?: (squares: string[], board: Board) => string;
  /** what stands for the letters of pieces where moves are listed */
  figurines?: Record<string, string>;
  /** how one plays */
  hint?: string;
  /** how one plays without mouse and keyboard */
  touchHint?: string;
  /** what is to be known of the points at the end */
  scored?: string;
}

/** One square or two, and what else is said of the move: `b2`, `e2e4`, `e7e8q`. */
const SQUARES = /^([a-z][1-9]\d?)([a-z][1-9]\d?)?/;

/** What is done where a game says nothing else. */
const GENERAL = {
  read: readRanks,
  path: ((move, board) => {
    const squares = (SQUARES.exec(move) ?? []).slice(1).filter((square) => square !== undefined);
    return squares.every((square) => board.has(square)) ? squares : [];
  }) as NonNullable<Customs['path']>,
  choices: ((moves) => moves.map((move) => ({ move, title: move }))) as NonNullable<
    Customs['choices']
  >,
  key: (() => null) as NonNullable<Customs['key']>,
  sayMove: ((move) => move) as NonNullable<Customs['sayMove']>,
  forced: ((legal) => (legal.join() === 'pass' ? say('forced.pass') : '')) as NonNullable<
    Customs['forced']
  >,
  line: ((squares) => say('line.squares', { squares: list(squares) })) as NonNullable<
    Customs['line']
  >,
  label: ((square) => square) as NonNullable<Customs['label']>,
  fileLabel: ((file) => String.fromCharCode(97 + file)) as NonNullable<Customs['fileLabel']>,
  rankLabel: ((rank) => String(rank + 1)) as NonNullable<Customs['rankLabel']>,
  figurines: {} as NonNullable<Customs['figurines']>,
  hint: say('hint.square'),
  touchHint: say('hint.square.touch'),
};

const CUSTOMS: Map<string, Customs & typeof GENERAL> = new Map(
  Object.entries({
    'tic-tac-toe': ticTacToe,
    'connect-four': connectFour,
    othello,
    draughts,
    chess,
    gomoku,
    go,
  }).map(([game, customs]) => [game, { ...GENERAL, ...customs }]),
);

/** The customs of a game. */
export const customsOf = (game: string): Customs & typeof GENERAL => CUSTOMS.get(game) ?? GENERAL;

/** The squares by each of which a move is chosen at once; none, if a piece is taken up for it. */
export function squaresOf(move: string, board: Board) {
  const { squares, path } = customsOf(board.game);
  if (squares) return squares(move, board);
  const visited = path(move, board);
  return visited.length === 1 ? visited : [];
}

/** The square on which the piece of a move comes to stand. */
export function landingOf(move: string, board: Board) {
  const { landing, path } = customsOf(board.game);
  return landing ? landing(move, board) : (path(move, board).at(-1) ?? null);
}

/** The move that a key stands for. */
export function moveOfKey(game: string, { key, code }: KeyboardEvent) {
  const { key: moveOf, pad } = customsOf(game);
  // Without NumLock, 7 on the pad is `Home`.
  const digit = pad ? /^Numpad([1-9])$/.exec(code)?.[1] : undefined;
  return moveOf(digit ?? key);
}
