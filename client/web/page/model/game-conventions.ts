// What a game needs beside what the wire tells of every game. Nothing here must be known: a game
// without customs is drawn and played all the same.

import { readRanks } from './fen.ts';
import { conventions as chess } from '../games/chess.ts';
import { conventions as connectFour } from '../games/connect-four.ts';
import { conventions as draughts } from '../games/draughts.ts';
import { conventions as go } from '../games/go.ts';
import { conventions as gomoku } from '../games/gomoku.ts';
import { conventions as othello } from '../games/othello.ts';
import { conventions as ticTacToe } from '../games/tic-tac-toe.ts';
import { formatList, translate } from '../text/language.ts';

import type { Board } from './position.ts';

/** What the two seats have brought about so far, beside the board. */
export interface Tally {
  text: string;
  /** as positions write them, to be drawn */
  pieces?: string[];
  /** what is shown beside them of what is said */
  shortText?: string;
}

/** One of several moves that look alike until one says what becomes of the piece. */
export interface MoveChoice {
  move: string;
  title: string;
  /** as positions write it, to be drawn */
  piece?: string;
}

export interface GameConventions {
  /** a position that shows what the game is like */
  sample?: string;
  /** how the board is drawn */
  boardStyle?: 'tiles' | 'plate' | 'chequers' | 'cloth' | 'crossings';
  /** the crossings that are marked */
  starPoints?: string[];
  /** whether the first rank lies on top */
  isFirstRankOnTop?: boolean;
  /** whether the players sit face to face, so that each has the board turned towards themselves */
  hasOrientation?: boolean;
  /** whether one may pass: instead of any move, or only where nothing else is possible */
  passRule?: 'freely' | 'forced';
  /** whether a piece falls into its square from above */
  hasGravity?: boolean;
  /** what stands on the board: ranks from the highest, one character a square, a dot where nothing stands */
  readRanks?: (position: string) => string[][];
  /** whose piece this is */
  seatOf?: (piece: string) => number;
  /** what a seat plays with, as positions write it */
  pieceOf?: (seat: number) => string;
  /** a piece around the origin, in a square of 100 by 100 */
  drawPiece?: (seat: number, piece: string) => SVGElement;
  /** a piece by its name */
  pieceName?: (piece: string) => string;
  /** the squares of a move, in the order in which its piece comes there; a single one is where a piece is put */
  path?: (move: string, board: Board) => string[];
  /** the squares by each of which a move is chosen that takes up no piece */
  clickSquares?: (move: string, board: Board) => string[];
  /** the square on which the piece of a move comes to stand */
  destination?: (move: string, board: Board) => string | null;
  /** what is told of moves that go over the same squares, the most usual first */
  moveChoices?: (moves: string[], board: Board) => MoveChoice[];
  /** whether the squares on which one may play are marked */
  showsLegalMoves?: boolean;
  /** what the rules demand of whoever is to move */
  forcedMoveText?: (legal: string[]) => string;
  /** what is to be known when the other one has passed */
  afterPassText?: string;
  /** where the king of the side to move stands */
  kingSquare?: (board: Board) => string | null;
  tally?: (board: Board) => [Tally, Tally];
  /** the move that a key stands for */
  moveForKey?: (key: string) => string | null;
  /** whether the number pad plays even where it would move the cursor */
  usesNumpad?: boolean;
  /** a move in a sentence; `before` is the board that it was played on, where that is known */
  describeMove?: (move: string, before: Board | null) => string;
  /** what is said of the winning line */
  describeWinningLine?: (squares: string[]) => string;
  /** what players call a square; nothing, if none ever stands there */
  squareLabel?: (square: string) => string;
  fileLabel?: (file: number) => string;
  rankLabel?: (rank: number) => string;
  /** which squares carry their labels themselves */
  labelledSquares?: 'all' | 'edges';
  /** what is to be known of a move that is chosen ahead */
  premoveNote?: (squares: string[], board: Board) => string;
  /** what stands for the letters of pieces where moves are listed */
  figurines?: Record<string, string>;
  /** how one plays */
  howToPlay?: string;
  /** how one plays without mouse and keyboard */
  howToPlayByTouch?: string;
  /** what is to be known of the points at the end */
  scoringNote?: string;
}

/** One square or two, and what else is said of the move: `b2`, `e2e4`, `e7e8q`. */
const SQUARES = /^([a-z][1-9]\d?)([a-z][1-9]\d?)?/;

/** What is done where a game says nothing else. */
const GENERAL = {
  readRanks: readRanks,
  path: ((move, board) => {
    const squares = (SQUARES.exec(move) ?? []).slice(1).filter((square) => square !== undefined);
    return squares.every((square) => board.has(square)) ? squares : [];
  }) as NonNullable<GameConventions['path']>,
  moveChoices: ((moves) => moves.map((move) => ({ move, title: move }))) as NonNullable<
    GameConventions['moveChoices']
  >,
  moveForKey: (() => null) as NonNullable<GameConventions['moveForKey']>,
  describeMove: ((move) => move) as NonNullable<GameConventions['describeMove']>,
  forcedMoveText: ((legal) =>
    legal.join() === 'pass' ? translate('forced.pass') : '') as NonNullable<
    GameConventions['forcedMoveText']
  >,
  describeWinningLine: ((squares) =>
    translate('line.squares', { squares: formatList(squares) })) as NonNullable<
    GameConventions['describeWinningLine']
  >,
  squareLabel: ((square) => square) as NonNullable<GameConventions['squareLabel']>,
  fileLabel: ((file) => String.fromCharCode(97 + file)) as NonNullable<
    GameConventions['fileLabel']
  >,
  rankLabel: ((rank) => String(rank + 1)) as NonNullable<GameConventions['rankLabel']>,
  figurines: {} as NonNullable<GameConventions['figurines']>,
  howToPlay: translate('hint.square'),
  howToPlayByTouch: translate('hint.square.touch'),
};

const CUSTOMS: Map<string, GameConventions & typeof GENERAL> = new Map(
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
export const conventionsOf = (game: string): GameConventions & typeof GENERAL =>
  CUSTOMS.get(game) ?? GENERAL;

/** The squares by each of which a move is chosen at once; none, if a piece is taken up for it. */
export function clickSquaresOf(move: string, board: Board) {
  const { clickSquares: squares, path } = conventionsOf(board.game);
  if (squares) return squares(move, board);
  const visited = path(move, board);
  return visited.length === 1 ? visited : [];
}

/** The square on which the piece of a move comes to stand. */
export function destinationOf(move: string, board: Board) {
  const { destination: landing, path } = conventionsOf(board.game);
  return landing ? landing(move, board) : (path(move, board).at(-1) ?? null);
}

/** The move that a key stands for. */
export function moveForKeyEvent(game: string, { key, code }: KeyboardEvent) {
  const { moveForKey: moveOf, usesNumpad: pad } = conventionsOf(game);
  // Without NumLock, 7 on the pad is `Home`.
  const digit = pad ? /^Numpad([1-9])$/.exec(code)?.[1] : undefined;
  return moveOf(digit ?? key);
}
