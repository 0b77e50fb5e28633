// The notation of each game: reads, writes and changes positions. It checks only a few rules,
// because the server checks all.

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
  /** help text on the notations that `read` accepts */
  helpKey: TextKey;
  initialPosition: (game: Game) => string;
  /** letters of the pieces that users can place */
  pieces: (game: Game) => string[];
  transformations: ('mirror' | 'upside' | 'swap')[];
  /** throws a `PositionError` */
  read: (text: string, game: Game) => ParsedPosition;
  /** in the server's notation */
  write: (position: Pick<EditorPosition, 'squares' | 'turn' | 'extraFields'>, game: Game) => string;
  /** in the notation of other programs */
  writeStandard?: (
    position: Pick<EditorPosition, 'squares' | 'turn' | 'extraFields'>,
    game: Game,
  ) => string;
  /** side to move, in games where the pieces determine it */
  turnOf?: (squares: PiecesBySquare) => number | null;
  /** the square and piece that change when a user places a piece; `null` if nothing can change */
  placePiece?: (
    squares: PiecesBySquare,
    square: string,
    piece: string,
    game: Game,
  ) => { square: string; piece: string } | null;
  /** the same piece of the other side */
  swapSide?: (piece: string) => string;
  /** how swapping the sides mirrors the board */
  flipsOnSwap?: ('across' | 'over')[];
  /** new extra fields after a change of the board */
  updateExtraFields?: (squares: PiecesBySquare, extraFields: unknown) => unknown;
  /** why play cannot begin */
  validate?: (position: EditorPosition, game: Game) => PositionError | null;
}

const NOTATIONS = new Map<string, Notation>(
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
