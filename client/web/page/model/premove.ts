// Premoves: moves that the user chooses during the opponent's turn. A premove is played on the
// user's
// turn if it is legal then.

import { conventionsOf, clickSquaresOf } from './game-conventions.ts';
import { translate, joinSentences } from '../text/language.ts';
import { isMyTurn } from './match.ts';

import type { App } from '../app/main.ts';
import type { Match } from './match.ts';
import type { MoveOption } from './move-selection.ts';
import type { Board } from './position.ts';

export interface Premove {
  /** the ply of the opponent's move that precedes it */
  ply: number;
  takebacks: number;
  /** the square of a placed piece, or the origin and destination of a move */
  squares: string[];
  /** the move itself, for a premove without squares */
  move?: string;
  note: string;
}

/** Whether the user may choose a premove now. */
export const canPremove = ({ status, you, turn }: Match) =>
  status === 'running' && you !== null && turn !== you;

/**
 * Returns the possible premoves: from each piece of the user to any other square, or a placement on
 * any empty square.
 */
export function premoveOptions({ game, legal, you }: Match, board: Board): MoveOption[] {
  const { path, squareLabel } = conventionsOf(game);
  const squares = [...board.squares()].filter((square) => squareLabel(square) !== '');
  // The opponent's legal moves show whether the game moves pieces or places them.
  const movesPieces = legal.some((move) => path(move, board).length > 1);
  if (!movesPieces) {
    const emptySquares = squares.filter((square) => board.isEmpty(square));
    return emptySquares.map((square) => ({ move: square, path: [square] }));
  }
  const origins = squares.filter((square) => board.seatOf(board.pieceAt(square)) === you);
  return origins.flatMap((from) =>
    squares.filter((to) => to !== from).map((to) => ({ move: `${from} ${to}`, path: [from, to] })),
  );
}

/**
 * Returns the legal move of a premove, or `null` if it is not legal.
 * @param match on the user's turn
 */
export function resolvePremove(
  { ply, takebacks, squares, move }: Premove,
  match: Match,
  board: Board,
): string | null {
  if (match.ply !== ply + 1 || match.takebacks !== takebacks) return null;
  const { path, moveChoices } = conventionsOf(match.game);
  const [from = '', to] = squares;
  const candidates = match.legal.filter((legal) => {
    if (move !== undefined) return legal === move;
    if (to === undefined) return clickSquaresOf(legal, board).includes(from);
    const visited = path(legal, board);
    return visited[0] === from && visited.at(-1) === to;
  });
  // The most usual move comes first, such as the promotion to a queen.
  if (candidates.length > 1) return moveChoices(candidates, board)[0]?.move ?? null;
  return candidates[0] ?? null;
}

/** The user's current premove in a match. */
export class PremoveState {
  premove: Premove | null = null;
  #app;

  constructor(app: App) {
    this.#app = app;
  }

  set(match: Match, choice: { squares: string[]; move?: string }, board: Board | null) {
    const note = (board && conventionsOf(match.game).premoveNote?.(choice.squares, board)) ?? '';
    this.premove = { ...choice, note, ply: match.ply, takebacks: match.takebacks };
    this.#app.announce(this.statusText());
    this.#app.update();
  }

  cancel() {
    this.premove = null;
    this.#app.announce(translate('ahead.none'));
    this.#app.update();
  }

  /** Describes the premove and how to cancel it. */
  statusText() {
    if (!this.premove) return '';
    const { squares, move, note } = this.premove;
    const squaresText = () => squares.reduce((from, to) => translate('ahead.way', { from, to }));
    return joinSentences(translate('ahead.chosen', { move: move ?? squaresText() }), note);
  }

  /** On the user's turn, removes the premove and returns its legal move, if any. */
  takeMove(match: Match, board: Board) {
    if (!this.premove || !isMyTurn(match)) return null;
    const move = resolvePremove(this.premove, match, board);
    this.premove = null;
    if (move === null) this.#app.toast(translate('ahead.cannot'));
    return move;
  }
}
