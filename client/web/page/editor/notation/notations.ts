// How each game writes its positions, and what can be set up in it. The rules are the server's: what is known
// here is what a glance at the board shows.

import { chess } from './chess.ts';
import { draughts } from './draughts.ts';
import { connectFour, fallbackNotation, gomoku, ticTacToe } from './grid.ts';
import { go } from './go.ts';
import { othello } from './othello.ts';

import type { Game } from '../../net/protocol.ts';
import type { TextKey } from '../../text/language.ts';
import type { EditorPosition, PiecesBySquare, ParsedPosition } from '../editor-position.ts';
import type { PositionError } from '../position-error.ts';

export interface Notation {
  /** what kind of text is read */
  helpKey: TextKey;
  /** the first position */
  initialPosition: (game: Game) => string;
  /** what can be put on the board, as positions write it */
  pieces: (game: Game) => string[];
  /** in which the board as a whole can be changed */
  transformations: ('mirror' | 'upside' | 'swap')[];
  /** throws what is `Wrong` with it */
  read: (text: string, game: Game) => ParsedPosition;
  /** as the server reads it */
  write: (draft: Pick<EditorPosition, 'squares' | 'turn' | 'extraFields'>, game: Game) => string;
  /** as others write it */
  writeStandard?: (
    draft: Pick<EditorPosition, 'squares' | 'turn' | 'extraFields'>,
    game: Game,
  ) => string;
  /** whose turn follows from what stands there */
  turnOf?: (squares: PiecesBySquare) => number | null;
  /** where a piece comes to stand that is put there, and as what; `null` if it cannot be */
  placePiece?: (
    squares: PiecesBySquare,
    square: string,
    piece: string,
    game: Game,
  ) => { square: string; piece: string } | null;
  /** the same piece of the other side */
  swapSide?: (piece: string) => string;
  /** how the board turns when sides are swapped */
  flipsOnSwap?: ('across' | 'over')[];
  /** what stays of `more` when the board changes */
  updateExtraFields?: (squares: PiecesBySquare, more: unknown) => unknown;
  /** why play cannot begin so */
  validate?: (draft: EditorPosition, game: Game) => PositionError | null;
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

export const notationOf = (game: string) => NOTATIONS.get(game) ?? fallbackNotation;
