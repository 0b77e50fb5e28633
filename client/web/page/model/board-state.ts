// What is to be seen of a match: its board now or in the past, and what the last move changed.

import { EMPTY } from './fen.ts';
import { conventionsOf, destinationOf } from './game-conventions.ts';
import { Board } from './position.ts';

import type { Game } from '../net/protocol.ts';
import type { Match } from './match.ts';
import type { MoveOption } from './move-selection.ts';

/** What the board shows and allows now. */
export interface BoardState {
  board: Board;
  /** the squares of the last move */
  last: string[];
  /** the square of a king that is attacked */
  check: string | null;
  /** the winning line */
  winningLine: string[];
  /** the moves that may be chosen now */
  legal: string[];
  /** what may be chosen ahead, while the other one is to move */
  premoveOptions: MoveOption[];
  /** the squares of what is chosen ahead */
  premoveSquares: string[];
  /** whose piece a chosen move brings */
  seat: number | null;
  /** whether new pieces arrive before one's eyes */
  isAnimated: boolean;
  /** whether it is seen from the other side */
  isFlipped: boolean;
}

/** The board after so many moves, the squares of the last of them, and that of a king that is attacked. */
export function boardAfter(
  game: Game,
  match: Match,
  ply: number,
): Pick<BoardState, 'board' | 'last' | 'check'> {
  const board = new Board(game, match.positions[ply] ?? match.position);
  const move = match.moves[ply - 1];
  const before = boardBefore(game, match, ply);
  const { kingSquare: king, path } = conventionsOf(game.game);
  const check = (isCheck(match, ply) && king?.(board)) || null;
  if (move === undefined) return { board, last: [], check };
  const last = path(move, board);
  if (last.length > 0 || !before) return { board, last, check };
  const filled = [...board.squares()].filter((at) => before.isEmpty(at) && !board.isEmpty(at));
  return { board, last: filled, check };
}

/** Whether the side to move was in check after so many moves, as players write them. */
const isCheck = ({ san, checkedAtStart }: Match, ply: number) =>
  ply === 0 ? checkedAtStart : /[+#]$/.test(san?.[ply - 1] ?? '');

/**
 * The board on which a move was played, where it is known.
 * @param ply how many moves there were with it
 */
export function boardBefore(game: Game, match: Match, ply: number) {
  const position = match.positions[ply - 1];
  return position === undefined ? null : new Board(game, position);
}

/** The match as it was after so many moves. */
export const matchAtPly = (match: Match, ply: number): Match =>
  ply === match.ply ? match : { ...match, ply, moves: match.moves.slice(0, ply) };

/**
 * The board as it will look when the server has taken a move of ours. The rules are the server's: a
 * move that does more than bring a piece is seen whole when it answers.
 */
export function boardWithPendingMove(
  game: Game,
  match: Match,
  move: string,
): Pick<BoardState, 'board' | 'last' | 'check'> {
  const now = boardAfter(game, match, match.ply);
  const { board } = now;
  const square = destinationOf(move, board);
  if (square === null || match.you === null) return now;
  const [from = square, ...rest] = conventionsOf(game.game).path(move, board);
  if (rest.length === 0) {
    const last = [square];
    return { board: board.withPieces({ [square]: board.pieceOf(match.you) }), last, check: null };
  }
  const changes = { [from]: EMPTY, [square]: board.pieceAt(from) };
  return { board: board.withPieces(changes), last: [from, ...rest], check: null };
}
