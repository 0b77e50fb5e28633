// How each game writes its positions, and what can be set up in it. The rules are the server's: what is known
// here is what a glance at the board shows.

import { chess } from './chess.js';
import { draughts } from './draughts.js';
import { connectFour, general, gomoku, ticTacToe } from './grid.js';
import { go } from './go.js';
import { othello } from './othello.js';

/** @import { Game } from '../../../protocol.js' */
/** @import { Key } from '../../language.js' */
/** @import { Draft, Squares, Told } from './draft.js' */
/** @import { Wrong } from './wrong.js' */

/**
 * @typedef {object} Notation
 * @property {Key} about what kind of text is read
 * @property {(game: Game) => string} first the first position
 * @property {(game: Game) => string[]} pieces what can be put on the board, as positions write it
 * @property {('mirror' | 'upside' | 'swap')[]} ways in which the board as a whole can be changed
 * @property {(text: string, game: Game) => Told} read throws what is `Wrong` with it
 * @property {(draft: Pick<Draft, 'squares' | 'turn' | 'more'>, game: Game) => string} write as the server reads it
 * @property {(draft: Pick<Draft, 'squares' | 'turn' | 'more'>, game: Game) => string} [show] as others write it
 * @property {(squares: Squares) => number | null} [turnOf] whose turn follows from what stands there
 * @property {(squares: Squares, square: string, piece: string, game: Game) => { square: string, piece: string } | null} [place]
 *   where a piece comes to stand that is put there, and as what; `null` if it cannot be
 * @property {(piece: string) => string} [swaps] the same piece of the other side
 * @property {('across' | 'over')[]} [swapTurns] how the board turns when sides are swapped
 * @property {(squares: Squares, more: unknown) => unknown} [kept] what stays of `more` when the board changes
 * @property {(draft: Draft, game: Game) => Wrong | null} [wrong] why play cannot begin so
 */

/** @type {Map<string, Notation>} */
const NOTATIONS = new Map(
  Object.entries({
    'tic-tac-toe': ticTacToe,
    'connect-four': connectFour,
    othello,
    draughts,
    chess,
    gomoku,
    go,
  }),
);

/** @param {string} game */
export const notationOf = (game) => NOTATIONS.get(game) ?? general;
