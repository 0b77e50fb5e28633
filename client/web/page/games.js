// What a game needs beside what the wire tells of every game. Nothing here must be known: a game
// without customs is drawn and played all the same.

import { readRanks } from './fen.js';
import { customs as chess } from './games/chess.js';
import { customs as connectFour } from './games/connect-four.js';
import { customs as draughts } from './games/draughts.js';
import { customs as go } from './games/go.js';
import { customs as gomoku } from './games/gomoku.js';
import { customs as othello } from './games/othello.js';
import { customs as ticTacToe } from './games/tic-tac-toe.js';
import { list, say } from './language.js';

/** @import { Board } from './position.js' */

/**
 * What the two seats have brought about so far, beside the board.
 * @typedef {object} Tally
 * @property {string} says
 * @property {string[]} [pieces] as positions write them, to be drawn
 * @property {string} [shown] what is shown beside them of what is said
 */

/**
 * One of several moves that look alike until one says what becomes of the piece.
 * @typedef {object} Choice
 * @property {string} move
 * @property {string} title
 * @property {string} [piece] as positions write it, to be drawn
 */

/**
 * @typedef {object} Customs
 * @property {string} [sample] a position that shows what the game is like
 * @property {'tiles' | 'plate' | 'chequers' | 'cloth' | 'crossings'} [look] how the board is drawn
 * @property {string[]} [stars] the crossings that are marked
 * @property {boolean} [downwards] whether the first rank lies on top
 * @property {boolean} [faces] whether the players sit face to face, so that each has the board turned
 *   towards themselves
 * @property {'freely' | 'forced'} [passes] whether one may pass: instead of any move, or only where nothing
 *   else is possible
 * @property {boolean} [falls] whether a piece falls into its square from above
 * @property {(position: string) => string[][]} [read] what stands on the board: ranks from the
 *   highest, one character a square, a dot where nothing stands
 * @property {(piece: string) => number} [seatOf] whose piece this is
 * @property {(seat: number) => string} [pieceOf] what a seat plays with, as positions write it
 * @property {(seat: number, piece: string) => SVGElement} [piece] a piece around the origin, in a
 *   square of 100 by 100
 * @property {(piece: string) => string} [sayPiece] a piece by its name
 * @property {(move: string, board: Board) => string[]} [path] the squares of a move, in the order in
 *   which its piece comes there; a single one is where a piece is put
 * @property {(move: string, board: Board) => string[]} [squares] the squares by each of which a move
 *   is chosen that takes up no piece
 * @property {(move: string, board: Board) => string | null} [landing] the square on which the piece
 *   of a move comes to stand
 * @property {(moves: string[], board: Board) => Choice[]} [choices] what is told of moves that go over
 *   the same squares, the most usual first
 * @property {boolean} [showsLegal] whether the squares on which one may play are marked
 * @property {(legal: string[]) => string} [forced] what the rules demand of whoever is to move
 * @property {string} [afterPass] what is to be known when the other one has passed
 * @property {(board: Board) => string | null} [king] where the king of the side to move stands
 * @property {(board: Board) => [Tally, Tally]} [tally]
 * @property {(key: string) => string | null} [key] the move that a key stands for
 * @property {boolean} [pad] whether the number pad plays even where it would move the cursor
 * @property {(move: string, before: Board | null) => string} [sayMove] a move in a sentence; `before`
 *   is the board that it was played on, where that is known
 * @property {(squares: string[]) => string} [line] what is said of the winning line
 * @property {(square: string) => string} [label] what players call a square; nothing, if none ever
 *   stands there
 * @property {(file: number) => string} [fileLabel]
 * @property {(rank: number) => string} [rankLabel]
 * @property {'all' | 'edges'} [inside] which squares carry their labels themselves
 * @property {(squares: string[], board: Board) => string} [becomes] what is to be known of a move that is chosen ahead
 * @property {Record<string, string>} [figurines] what stands for the letters of pieces where moves are listed
 * @property {string} [hint] how one plays
 * @property {string} [touchHint] how one plays without mouse and keyboard
 * @property {string} [scored] what is to be known of the points at the end
 */

/** One square or two, and what else is said of the move: `b2`, `e2e4`, `e7e8q`. */
const SQUARES = /^([a-z][1-9]\d?)([a-z][1-9]\d?)?/;

/** What is done where a game says nothing else. */
const GENERAL = {
  read: readRanks,
  /** @type {NonNullable<Customs['path']>} */
  path: (move, board) => {
    const squares = (SQUARES.exec(move) ?? []).slice(1).filter((square) => square !== undefined);
    return squares.every((square) => board.has(square)) ? squares : [];
  },
  /** @type {NonNullable<Customs['choices']>} */
  choices: (moves) => moves.map((move) => ({ move, title: move })),
  /** @type {NonNullable<Customs['key']>} */
  key: () => null,
  /** @type {NonNullable<Customs['sayMove']>} */
  sayMove: (move) => move,
  /** @type {NonNullable<Customs['forced']>} */
  forced: (legal) => (legal.join() === 'pass' ? say('forced.pass') : ''),
  /** @type {NonNullable<Customs['line']>} */
  line: (squares) => say('line.squares', { squares: list(squares) }),
  /** @type {NonNullable<Customs['label']>} */
  label: (square) => square,
  /** @type {NonNullable<Customs['fileLabel']>} */
  fileLabel: (file) => String.fromCharCode(97 + file),
  /** @type {NonNullable<Customs['rankLabel']>} */
  rankLabel: (rank) => String(rank + 1),
  /** @type {NonNullable<Customs['figurines']>} */
  figurines: {},
  hint: say('hint.square'),
  touchHint: say('hint.square.touch'),
};

/** @type {Map<string, Customs & typeof GENERAL>} */
const CUSTOMS = new Map(
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

/**
 * The customs of a game.
 * @param {string} game
 * @returns {Customs & typeof GENERAL}
 */
export const customsOf = (game) => CUSTOMS.get(game) ?? GENERAL;

/**
 * The squares by each of which a move is chosen at once; none, if a piece is taken up for it.
 * @param {string} move
 * @param {Board} board
 */
export function squaresOf(move, board) {
  const { squares, path } = customsOf(board.game);
  if (squares) return squares(move, board);
  const visited = path(move, board);
  return visited.length === 1 ? visited : [];
}

/**
 * The square on which the piece of a move comes to stand.
 * @param {string} move
 * @param {Board} board
 */
export function landingOf(move, board) {
  const { landing, path } = customsOf(board.game);
  return landing ? landing(move, board) : (path(move, board).at(-1) ?? null);
}

/**
 * The move that a key stands for.
 * @param {string} game
 * @param {KeyboardEvent} event
 */
export function moveOfKey(game, { key, code }) {
  const { key: moveOf, pad } = customsOf(game);
  // Without NumLock, 7 on the pad is `Home`.
  const digit = pad ? /^Numpad([1-9])$/.exec(code)?.[1] : undefined;
  return moveOf(digit ?? key);
}
