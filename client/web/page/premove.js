// A move that is chosen while the other one thinks, and played when the turn comes if it is legal then.
// It is known by its squares: what they mean, and whether it may be played, the server tells with the turn.

import { customsOf, squaresOf } from './games.js';
import { say, sentences } from './language.js';
import { isMyTurn } from './match.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */
/** @import { Option } from './picking.js' */
/** @import { Board } from './position.js' */

/**
 * @typedef {object} Premove
 * @property {number} ply the other's, after which it is played
 * @property {number} takebacks
 * @property {string[]} squares where a piece is put, or from where to where one goes
 * @property {string} [move] where a key has named it
 * @property {string} told what else is to be known of it
 */

/** Whether a move may be chosen ahead. @param {Match} match */
export const isAwaiting = ({ status, you, turn }) =>
  status === 'running' && you !== null && turn !== you;

/**
 * What can be chosen ahead: a piece of ours and any other square, or a free square where pieces are put.
 * @param {Match} match
 * @param {Board} board
 * @returns {Option[]}
 */
export function choicesAhead({ game, legal, you }, board) {
  const { path, label } = customsOf(game);
  const squares = [...board.squares()].filter((square) => label(square) !== '');
  // Both play by the same rules: what the other may do now tells in which manner.
  const takesUp = legal.some((move) => path(move, board).length > 1);
  if (!takesUp) {
    const free = squares.filter((square) => board.isEmpty(square));
    return free.map((square) => ({ move: square, path: [square] }));
  }
  const ours = squares.filter((square) => board.seatOf(board.at(square)) === you);
  return ours.flatMap((from) =>
    squares.filter((to) => to !== from).map((to) => ({ move: `${from} ${to}`, path: [from, to] })),
  );
}

/**
 * The legal move that was meant; `null` if there is none now.
 * @param {Premove} premove
 * @param {Match} match in which it is our turn
 * @param {Board} board
 * @returns {string | null}
 */
export function meant({ ply, takebacks, squares, move }, match, board) {
  if (match.ply !== ply + 1 || match.takebacks !== takebacks) return null;
  const { path, choices } = customsOf(match.game);
  const [from = '', to] = squares;
  const found = match.legal.filter((legal) => {
    if (move !== undefined) return legal === move;
    if (to === undefined) return squaresOf(legal, board).includes(from);
    const way = path(legal, board);
    return way[0] === from && way.at(-1) === to;
  });
  // Of several, the most usual: a pawn becomes a queen.
  if (found.length > 1) return choices(found, board)[0]?.move ?? null;
  return found[0] ?? null;
}

/** What is chosen ahead in one match. */
export class Ahead {
  /** @type {Premove | null} */
  premove = null;
  #app;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
  }

  /** @param {Match} match @param {{ squares: string[], move?: string }} choice @param {Board | null} board */
  choose(match, choice, board) {
    const told = (board && customsOf(match.game).becomes?.(choice.squares, board)) ?? '';
    this.premove = { ...choice, told, ply: match.ply, takebacks: match.takebacks };
    this.#app.announce(this.says());
    this.#app.update();
  }

  takeOut() {
    this.premove = null;
    this.#app.announce(say('ahead.none'));
    this.#app.update();
  }

  /** What is chosen, and how one is rid of it. */
  says() {
    if (!this.premove) return '';
    const { squares, move, told } = this.premove;
    const way = () => squares.reduce((from, to) => say('ahead.way', { from, to }));
    return sentences(say('ahead.chosen', { move: move ?? way() }), told);
  }

  /**
   * What is to be played now that it is our turn.
   * @param {Match} match
   * @param {Board} board
   * @returns {string | null}
   */
  due(match, board) {
    if (!this.premove || !isMyTurn(match)) return null;
    const move = meant(this.premove, match, board);
    this.premove = null;
    if (move === null) this.#app.toast(say('ahead.cannot'));
    return move;
  }
}
