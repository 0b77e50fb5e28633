// What a game needs beside what the wire tells of every game. Nothing here must be known: a game
// without customs is drawn and played all the same.

import { customs as connectFour } from './games/connect-four.js';
import { customs as ticTacToe } from './games/tic-tac-toe.js';

/** @import { Board } from './position.js' */

/**
 * @typedef {object} Customs
 * @property {string} [sample] a position that shows what the game is like
 * @property {'tiles' | 'plate'} [look] how the board is drawn
 * @property {boolean} [falls] whether a piece falls into its square from above
 * @property {(seat: number) => SVGElement} [piece] what a seat plays with, around the origin, in a
 *   square of 100 by 100
 * @property {(move: string, board: Board) => string[]} [squares] the squares by which a move is
 *   chosen
 * @property {(move: string, board: Board) => string | null} [landing] the square on which the piece
 *   of a move comes to stand
 * @property {(key: string) => string | null} [key] the move that a key stands for
 * @property {boolean} [pad] whether the number pad plays even where it would move the cursor
 * @property {(move: string) => string} [sayMove] a move in a sentence
 * @property {(squares: string[]) => string} [line] what is said of the winning line
 * @property {(file: number) => string} [fileLabel]
 * @property {(rank: number) => string} [rankLabel]
 * @property {string} [hint] how one plays
 * @property {string} [touchHint] how one plays without mouse and keyboard
 */

/** @type {Map<string, Customs>} */
const CUSTOMS = new Map([
  ['tic-tac-toe', ticTacToe],
  ['connect-four', connectFour],
]);

/** What is done where a game says nothing else. */
const GENERAL = {
  /** @type {NonNullable<Customs['squares']>} */
  squares: (move, board) => (board.has(move) ? [move] : []),
  /** @type {NonNullable<Customs['landing']>} */
  landing: (move, board) => (board.has(move) ? move : null),
  /** @type {NonNullable<Customs['key']>} */
  key: () => null,
  /** @type {NonNullable<Customs['sayMove']>} */
  sayMove: (move) => move,
  /** @type {NonNullable<Customs['line']>} */
  line: (squares) => `The line is ${squares.join(', ')}.`,
  /** @type {NonNullable<Customs['fileLabel']>} */
  fileLabel: (file) => String.fromCharCode(97 + file),
  /** @type {NonNullable<Customs['rankLabel']>} */
  rankLabel: (rank) => String(rank + 1),
  hint: 'Click a square, or use the arrow keys and Enter.',
  touchHint: 'Tap a square.',
};

/**
 * The customs of a game.
 * @param {string} game
 * @returns {Customs & typeof GENERAL}
 */
export const customsOf = (game) => ({ ...GENERAL, ...CUSTOMS.get(game) });

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
