// How each game writes its positions, and what can be set up in it. The rules are the server's: what is known
// here is what a glance at the board shows.

import { chess } from './chess.ts';
import { draughts } from './draughts.ts';
import { connectFour, general, gomoku, ticTacToe } from './grid.ts';
import { go } from './go.ts';
import { othello } from './othello.ts';

import type { Game } from '../../net/protocol.ts';
import type { Key } from '../../text/language.ts';
import type { Draft, Squares, Told } from '../draft.ts';
import type { Wrong } from '../position-error.ts';

export interface Notation {
  /** what kind of text is read */
  about: Key;
  /** the first position */
  first: (game: Game) => string;
  /** what can be put on the board, as positions write it */
  pieces: (game: Game) => string[];
  /** in which the board as a whole can be changed */
  ways: ('mirror' | 'upside' | 'swap')[];
  /** throws what is `Wrong` with it */
  read: (text: string, game: Game) => Told;
  /** as the server reads it */
  write: (draft: Pick<Draft, 'squares' | 'turn' | 'more'>, game: Game) => string;
  /** as others write it */
  show?: (draft: Pick<Draft, 'squares' | 'turn' | 'more'>, game: Game) => string;
  /** whose turn follows from what stands there */
  turnOf?: (squares: Squares) => number | null;
  /** where a piece comes to stand that is put there, and as what; `null` if it cannot be */
  place?: (
    squares: Squares,
    square: string,
    piece: string,
    game: Game,
  ) => { square: string; piece: string } | null;
  /** the same piece of the other side */
  swaps?: (piece: string) => string;
  /** how the board turns when sides are swapped */
  swapTurns?: ('across' | 'over')[];
  /** what stays of `more` when the board changes */
  kept?: (squares: Squares, more: unknown) => unknown;
  /** why play cannot begin so */
  wrong?: (draft: Draft, game: Game) => Wrong | null;
}

const NOTATIONS: Map<string, Notation> = new Map(
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

export const notationOf = (game: string) => NOTATIONS.get(game) ?? general;
