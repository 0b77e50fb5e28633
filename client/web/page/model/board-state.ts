// Computes the board state of a match at any ply.

import { EMPTY } from './fen.ts';
import { conventionsOf, destinationOf } from './game-conventions.ts';
import { Board } from './position.ts';

import type { Game } from '../net/protocol.ts';
import type { Match } from './match.ts';
import type { MoveOption } from './move-selection.ts';

/** The state that the board displays. */
export interface BoardState {
  board: Board;
  /** the squares of the last move */
  last: string[];
  /** the square of a king in check */
  check: string | null;
  /** the winning line */
  winningLine: string[];
  /** the moves that may be chosen now */
  legal: string[];
  /** the premoves that the user may choose while the opponent is to move */
  premoveOptions: MoveOption[];
  /** the squares of the current premove */
  premoveSquares: string[];
  /** the seat whose piece a move places */
  seat: number | null;
  /** whether changes of the position are animated */
  isAnimated: boolean;
  /** whether the second side is at the bottom */
  isFlipped: boolean;
}

/** Returns the board after `ply` plies, with the last move and the check. */
export function boardAfter(
  game: Game,
  match: Match,
  ply: number,
): Pick<BoardState, 'board' | 'last' | 'check'> {
  const board = new Board(game, match.positions[ply] ?? match.position);
  const move = match.moves[ply - 1];
  const before = boardBefore(game, match, ply);
  const { kingSquare, path } = conventionsOf(game.game);
  const check = (isCheck(match, ply) && kingSquare?.(board)) || null;
  if (move === undefined) return { board, last: [], check };
  const last = path(move, board);
  if (last.length > 0 || !before) return { board, last, check };
  const filled = [...board.squares()].filter(
    (square) => before.isEmpty(square) && !board.isEmpty(square),
  );
  return { board, last: filled, check };
}

/** Whether the side to move was in check after `ply` plies, by the SAN of the last move. */
const isCheck = ({ san, checkedAtStart }: Match, ply: number) =>
  ply === 0 ? checkedAtStart : /[+#]$/.test(san?.[ply - 1] ?? '');

/** Returns the board before the last of `ply` plies, or `null` if its position is unknown. */
export function boardBefore(game: Game, match: Match, ply: number) {
  const position = match.positions[ply - 1];
  return position === undefined ? null : new Board(game, position);
}

/** Returns the match with its moves cut after `ply` plies. */
export const matchAtPly = (match: Match, ply: number): Match =>
  ply === match.ply ? match : { ...match, ply, moves: match.moves.slice(0, ply) };

/**
 * Returns the board with a move that the server has not confirmed yet. Only the moved piece
 * changes; captures and other effects follow with the server's event.
 */
export function boardWithPendingMove(
  game: Game,
  match: Match,
  move: string,
): Pick<BoardState, 'board' | 'last' | 'check'> {
  const current = boardAfter(game, match, match.ply);
  const { board } = current;
  const square = destinationOf(move, board);
  if (square === null || match.you === null) return current;
  const [from = square, ...rest] = conventionsOf(game.game).path(move, board);
  if (rest.length === 0) {
    const last = [square];
    return { board: board.withPieces({ [square]: board.pieceOf(match.you) }), last, check: null };
  }
  const changes = { [from]: EMPTY, [square]: board.pieceAt(from) };
  return { board: board.withPieces(changes), last: [from, ...rest], check: null };
}
