// Display and input conventions of each game that the wire protocol does not contain. All are
// optional: the defaults suffice to display and play an unknown game.

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

/** A seat's captures or score, shown beside the board. */
export interface Tally {
  text: string;
  /** pieces to draw, in the notation of positions */
  pieces?: string[];
  /** visible text beside the pieces; `text` is the complete version for screen readers */
  shortText?: string;
}

/** One of several moves over the same squares, such as a promotion. */
export interface MoveChoice {
  move: string;
  title: string;
  /** piece to draw, in the notation of positions */
  piece?: string;
}

export interface GameConventions {
  /** a typical position for the game's preview */
  sample?: string;
  boardStyle?: 'tiles' | 'plate' | 'chequers' | 'cloth' | 'crossings';
  starPoints?: string[];
  /** whether the first rank is at the top */
  isFirstRankOnTop?: boolean;
  /** whether each player sees the board from their own side */
  hasOrientation?: boolean;
  /** whether a player may pass on any turn, or only without another legal move */
  passRule?: 'freely' | 'forced';
  /** whether a new piece drops into its square from above */
  hasGravity?: boolean;
  /**
   * parses a position into ranks, the highest first, with one character per square and `.` if empty
   */
  readRanks?: (position: string) => string[][];
  seatOf?: (piece: string) => number;
  /** a seat's typical piece, in the notation of positions */
  pieceOf?: (seat: number) => string;
  /** draws a piece centred on the origin, in a square of 100 by 100 units */
  drawPiece?: (seat: number, piece: string) => SVGElement;
  pieceName?: (piece: string) => string;
  /** the squares that the piece of a move visits, in order; only one for a placed piece */
  path?: (move: string, board: Board) => string[];
  /** the squares where a click plays the move at once */
  clickSquares?: (move: string, board: Board) => string[];
  /** the square where the piece of a move ends */
  destination?: (move: string, board: Board) => string | null;
  /** titles for moves over the same squares, the most usual move first */
  moveChoices?: (moves: string[], board: Board) => MoveChoice[];
  /** whether the board marks the squares of legal moves */
  showsLegalMoves?: boolean;
  /** describes a restriction of the legal moves, such as a forced capture */
  forcedMoveText?: (legal: string[]) => string;
  /** a note for the user after a pass of the opponent */
  afterPassText?: string;
  /** the square of the king of the side to move */
  kingSquare?: (board: Board) => string | null;
  tally?: (board: Board) => [Tally, Tally];
  moveForKey?: (key: string) => string | null;
  /** whether the number pad plays moves even without NumLock */
  usesNumpad?: boolean;
  /** describes a move in a sentence; `before` is the board before the move, if known */
  describeMove?: (move: string, before: Board | null) => string;
  describeWinningLine?: (squares: string[]) => string;
  /** the players' name of a square; empty for a square that the game does not use */
  squareLabel?: (square: string) => string;
  fileLabel?: (file: number) => string;
  rankLabel?: (rank: number) => string;
  /** which squares have their labels inside them */
  labelledSquares?: 'all' | 'edges';
  /** a note about a premove */
  premoveNote?: (squares: string[], board: Board) => string;
  /** symbols for the piece letters in the move list */
  figurines?: Record<string, string>;
  howToPlay?: string;
  howToPlayByTouch?: string;
  /** a note about the final score */
  scoringNote?: string;
}

/** Matches the one or two squares at the start of a move: `b2`, `e2e4`, `e7e8q`. */
const SQUARES = /^([a-z][1-9]\d?)([a-z][1-9]\d?)?/;

type Defaults = Required<
  Pick<
    GameConventions,
    | 'readRanks'
    | 'path'
    | 'moveChoices'
    | 'moveForKey'
    | 'describeMove'
    | 'forcedMoveText'
    | 'describeWinningLine'
    | 'squareLabel'
    | 'fileLabel'
    | 'rankLabel'
    | 'figurines'
    | 'howToPlay'
    | 'howToPlayByTouch'
  >
>;

const DEFAULTS: Defaults = {
  readRanks,
  path: (move, board) => {
    const squares = (SQUARES.exec(move) ?? []).slice(1).filter((square) => square !== undefined);
    return squares.every((square) => board.has(square)) ? squares : [];
  },
  moveChoices: (moves) => moves.map((move) => ({ move, title: move })),
  moveForKey: () => null,
  describeMove: (move) => move,
  forcedMoveText: (legal) => (legal.join() === 'pass' ? translate('forced.pass') : ''),
  describeWinningLine: (squares) => translate('line.squares', { squares: formatList(squares) }),
  squareLabel: (square) => square,
  fileLabel: (file) => String.fromCharCode(97 + file),
  rankLabel: (rank) => String(rank + 1),
  figurines: {},
  howToPlay: translate('hint.square'),
  howToPlayByTouch: translate('hint.square.touch'),
};

const CONVENTIONS: Map<string, GameConventions & Defaults> = new Map(
  Object.entries({
    'tic-tac-toe': ticTacToe,
    'connect-four': connectFour,
    othello,
    draughts,
    chess,
    gomoku,
    go,
  }).map(([game, conventions]) => [game, { ...DEFAULTS, ...conventions }]),
);

/** Returns the conventions of a game, or the defaults for an unknown game. */
export const conventionsOf = (game: string): GameConventions & Defaults =>
  CONVENTIONS.get(game) ?? DEFAULTS;

/**
 * Returns the squares where a click plays the move at once; none if the move needs a selected
 * piece.
 */
export function clickSquaresOf(move: string, board: Board) {
  const { clickSquares, path } = conventionsOf(board.game);
  if (clickSquares) return clickSquares(move, board);
  const squares = path(move, board);
  return squares.length === 1 ? squares : [];
}

/** Returns the square where the piece of a move ends. */
export function destinationOf(move: string, board: Board) {
  const { destination, path } = conventionsOf(board.game);
  return destination ? destination(move, board) : (path(move, board).at(-1) ?? null);
}

/** Returns the move that a key plays, or `null`. */
export function moveForKeyEvent(game: string, { key, code }: KeyboardEvent) {
  const { moveForKey, usesNumpad } = conventionsOf(game);
  // Without NumLock, the 7 of the number pad has the key `Home`.
  const digit = usesNumpad ? /^Numpad([1-9])$/.exec(code)?.[1] : undefined;
  return moveForKey(digit ?? key);
}
