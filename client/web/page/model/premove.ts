// A move that is chosen while the other one thinks, and played when the turn comes if it is legal then.
// It is known by its squares: what they mean, and whether it may be played, the server tells with the turn.

import { conventionsOf, clickSquaresOf } from './game-conventions.ts';
import { translate, joinSentences } from '../text/language.ts';
import { isMyTurn } from './match.ts';

import type { App } from '../app/main.ts';
import type { Match } from './match.ts';
import type { MoveOption } from './move-selection.ts';
import type { Board } from './position.ts';

export interface Premove {
  /** the other's, after which it is played */
  ply: number;
  takebacks: number;
  /** where a piece is put, or from where to where one goes */
  squares: string[];
  /** where a key has named it */
  move?: string;
  /** what else is to be known of it */
  note: string;
}

/** Whether a move may be chosen ahead. */
export const canPremove = ({ status, you, turn }: Match) =>
  status === 'running' && you !== null && turn !== you;

/** What can be chosen ahead: a piece of ours and any other square, or a free square where pieces are put. */
export function premoveOptions({ game, legal, you }: Match, board: Board): MoveOption[] {
  const { path, squareLabel: label } = conventionsOf(game);
  const squares = [...board.squares()].filter((square) => label(square) !== '');
  // Both play by the same rules: what the other may do now tells in which manner.
  const takesUp = legal.some((move) => path(move, board).length > 1);
  if (!takesUp) {
    const free = squares.filter((square) => board.isEmpty(square));
    return free.map((square) => ({ move: square, path: [square] }));
  }
  const ours = squares.filter((square) => board.seatOf(board.pieceAt(square)) === you);
  return ours.flatMap((from) =>
    squares.filter((to) => to !== from).map((to) => ({ move: `${from} ${to}`, path: [from, to] })),
  );
}

/**
 * The legal move that was meant; `null` if there is none now.
 * @param match in which it is our turn
 */
export function resolvePremove(
  { ply, takebacks, squares, move }: Premove,
  match: Match,
  board: Board,
): string | null {
  if (match.ply !== ply + 1 || match.takebacks !== takebacks) return null;
  const { path, moveChoices: choices } = conventionsOf(match.game);
  const [from = '', to] = squares;
  const found = match.legal.filter((legal) => {
    if (move !== undefined) return legal === move;
    if (to === undefined) return clickSquaresOf(legal, board).includes(from);
    const way = path(legal, board);
    return way[0] === from && way.at(-1) === to;
  });
  // Of several, the most usual: a pawn becomes a queen.
  if (found.length > 1) return choices(found, board)[0]?.move ?? null;
  return found[0] ?? null;
}

/** What is chosen ahead in one match. */
export class PremoveState {
  premove: Premove | null = null;
  #app;

  constructor(app: App) {
    this.#app = app;
  }

  set(match: Match, choice: { squares: string[]; move?: string }, board: Board | null) {
    const told = (board && conventionsOf(match.game).premoveNote?.(choice.squares, board)) ?? '';
    this.premove = { ...choice, note: told, ply: match.ply, takebacks: match.takebacks };
    this.#app.announce(this.statusText());
    this.#app.update();
  }

  cancel() {
    this.premove = null;
    this.#app.announce(translate('ahead.none'));
    this.#app.update();
  }

  /** What is chosen, and how one is rid of it. */
  statusText() {
    if (!this.premove) return '';
    const { squares, move, note: told } = this.premove;
    const way = () => squares.reduce((from, to) => translate('ahead.way', { from, to }));
    return joinSentences(translate('ahead.chosen', { move: move ?? way() }), told);
  }

  /** What is to be played now that it is our turn. */
  takeMove(match: Match, board: Board): string | null {
    if (!this.premove || !isMyTurn(match)) return null;
    const move = resolvePremove(this.premove, match, board);
    this.premove = null;
    if (move === null) this.#app.toast(translate('ahead.cannot'));
    return move;
  }
}
