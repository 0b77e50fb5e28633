// The board as a picture: what lies under the pieces, the pieces, and what lies over them. One unit
// is a hundredth of a square.

import { s } from './dom.js';
import { customsOf } from './games.js';
import { ground, lookOf, plateWithHoles } from './ground.js';
import { Layout } from './layout.js';
import { drawPiece } from './piece.js';
import { Board } from './position.js';

/** @import { Game } from '../protocol.js' */

/**
 * What is to be seen.
 * @typedef {object} Scene
 * @property {Board} board
 * @property {string[]} [last] the squares of the last move
 * @property {string[]} [line] the winning line
 * @property {string[]} [aim] the squares of the move that is about to be chosen
 * @property {string[]} [way] the squares chosen so far; what stands on the first is picked up
 * @property {string[]} [targets] where one could play next
 * @property {string[]} [queued] the squares of a move that is chosen ahead
 * @property {string[]} [movers] what has to be played with
 * @property {string | null} [check] the square of a king that is attacked
 * @property {{ square: string, piece: string } | null} [ghost] a piece that could come to stand there
 * @property {boolean} [moving] whether new pieces arrive before one's eyes
 */

/** The corners of a square: where rings tell what can be done, they tell what was done. */
const CORNERS = 'M-45-25V-45H-25M25-45H45V-25M45 25V45H25M-25 45H-45V25';

/** So far above a finger a piece is carried. */
const LIFT = 70;

/** How long a piece takes to its new square. */
const SLIDE_MS = 180;
/** More than come to new squares in any one move; after a jump in time nothing slides. */
const SLIDES_MAX = 2;

export class Picture {
  element;
  layout;
  #game;
  #look;
  #under;
  #pieces = s('g', {});
  #over = s('g', {});
  /** What is carried, above all else. */
  #top = s('g', {});
  /** @type {Map<string, { piece: string, element: SVGElement }>} */
  #standing = new Map();
  /** @type {SVGElement | null} */
  #ghost = null;

  /** @param {Game} game @param {Layout} [layout] */
  constructor(game, layout = new Layout(game)) {
    this.#game = game;
    this.layout = layout;
    const look = lookOf(game);
    this.#look = look;
    const size = `0 0 ${game.files * 100} ${game.ranks * 100}`;
    const plate = look === 'plate' ? s('path', { class: 'plate', d: plateWithHoles(game) }) : null;
    this.#under = s('g', {}, ...ground(game, layout));
    this.element = s(
      'svg',
      { class: `picture ${look}`, viewBox: size, 'aria-hidden': 'true' },
      this.#under,
      this.#pieces,
      plate,
      this.#over,
      this.#top,
    );
  }

  /** @param {Scene} scene */
  show(scene) {
    const { board, last = [], line = [], aim = [], way = [], check = null, ghost = null } = scene;
    this.#stand(board, last, scene.moving ?? false);
    for (const [square, { element }] of this.#standing) {
      element.classList.toggle('dim', line.length > 0 && !line.includes(square));
      element.classList.toggle('picked', square === way[0]);
    }
    for (const tile of this.#under.children) {
      const square = tile.getAttribute('data-square') ?? '';
      tile.classList.toggle('last', last.includes(square));
      tile.classList.toggle('line', line.includes(square));
      tile.classList.toggle('aim', aim.includes(square));
      tile.classList.toggle('way', way.includes(square));
      tile.classList.toggle('check', square === check);
    }
    this.#over.replaceChildren(...this.#marks(scene));
    this.#ghost?.remove();
    this.#ghost = null;
    if (ghost) {
      const drawn = drawPiece(board, ghost.piece);
      this.#ghost = this.#at(ghost.square, drawn);
      this.#ghost.classList.add('ghost');
      this.#pieces.append(this.#ghost);
    }
  }

  /**
   * Carries what stands on a square to a place of the picture; without one, puts it back.
   * @param {string} square
   * @param {{ x: number, y: number, lifted?: boolean } | null} place `lifted` above a finger
   */
  carry(square, place) {
    const element = this.#standing.get(square)?.element;
    if (!element) return;
    const { x, y } = place ?? this.layout.middle(square);
    const isLifted = place?.lifted === true;
    element.setAttribute('transform', `translate(${x} ${isLifted ? y - LIFT : y})`);
    element.classList.toggle('carried', place !== null);
    element.classList.toggle('lifted', isLifted);
    const layer = place ? this.#top : this.#pieces;
    if (element.parentNode !== layer) layer.append(element);
  }

  /** @param {Scene} scene */
  #marks({ board, last = [], line = [], targets = [], movers = [], queued = [] }) {
    const mark =
      (/** @type {string} */ kind, /** @type {number} */ r) =>
      /** @param {string} square */
      (square) => {
        const seat = board.seatOf(board.at(square));
        return this.#at(square, s('circle', { class: `mark-${kind} on-${seat ?? 'none'}`, r }));
      };
    const lastMark = (/** @type {string} */ square) => {
      const kind = `mark-last${line.includes(square) ? ' in-line' : ''}`;
      const seat = board.seatOf(board.at(square)) ?? 'none';
      const drawn =
        this.#look === 'chequers'
          ? s('path', { class: kind, d: CORNERS })
          : s('circle', { class: `${kind} on-${seat}`, r: 46 });
      return this.#at(square, drawn);
    };
    const isFree = (/** @type {string} */ square) => board.isEmpty(square);
    return [
      ...line.map(mark('line', 44)),
      ...last.map(lastMark),
      ...queued.map(mark('queued', 40)),
      ...movers.map(mark('mover', 45)),
      ...targets.filter(isFree).map(mark('target', 15)),
      ...targets.filter((square) => !isFree(square)).map(mark('capture', 44)),
    ];
  }

  /**
   * @param {Board} board
   * @param {string[]} last
   * @param {boolean} moving
   */
  #stand(board, last, moving) {
    const now = (/** @type {string} */ square) => (board.isEmpty(square) ? '' : board.at(square));
    const before = (/** @type {string} */ square) => this.#standing.get(square)?.piece ?? '';
    const changed = [...board.squares()].filter((square) => now(square) !== before(square));
    const come = changed.filter((square) => now(square) !== '');
    const left = changed.filter((square) => before(square) !== '');
    const slides = moving && last.length > 1 && come.length <= SLIDES_MAX;
    const from = (/** @type {string} */ square) => {
      // What has become something else, a pawn for one, comes along the squares of its move.
      const same = left.find((other) => before(other) === now(square));
      const along = square === last.at(-1) && left.includes(last[0] ?? '') ? last[0] : undefined;
      return slides ? (same ?? along) : undefined;
    };
    const arrivals = come.map((square) => ({
      square,
      from: from(square),
      turns: before(square) !== '' && board.seatOf(before(square)) !== board.seatOf(now(square)),
    }));
    for (const square of left) {
      this.#standing.get(square)?.element.remove();
      this.#standing.delete(square);
    }
    for (const { square, from, turns } of arrivals) {
      const piece = board.at(square);
      const drawn = drawPiece(board, piece);
      const element = this.#at(square, drawn);
      this.#pieces.append(element);
      this.#standing.set(square, { piece, element });
      if (from !== undefined) this.#slide(drawn, from, square);
      else if (moving && !slides) this.#arrive(board, drawn, square, turns);
    }
  }

  /**
   * @param {Board} board
   * @param {SVGElement} drawn
   * @param {string} square
   * @param {boolean} turns whether a piece of the other side stood there
   */
  #arrive(board, drawn, square, turns) {
    const above = board.ranks - (board.place(square)?.rank ?? 0);
    const { falls } = customsOf(this.#game.game);
    drawn.classList.add(falls ? 'falls' : turns ? 'turns' : 'arrives');
    drawn.style.setProperty('--squares', String(above));
  }

  /** @param {SVGElement} drawn @param {string} from @param {string} to */
  #slide(drawn, from, to) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const [start, end] = [this.layout.middle(from), this.layout.middle(to)];
    const away = `translate(${start.x - end.x}px, ${start.y - end.y}px)`;
    drawn.animate([{ transform: away }, { transform: 'none' }], {
      duration: SLIDE_MS,
      easing: 'ease-out',
    });
  }

  /** @param {string} square @param {SVGElement} drawn */
  #at(square, drawn) {
    const { x, y } = this.layout.middle(square);
    return s('g', { transform: `translate(${x} ${y})` }, drawn);
  }
}

/**
 * A small picture of what a game is like.
 * @param {Game} game
 */
export function sample(game) {
  const picture = new Picture(game);
  picture.show({ board: new Board(game, customsOf(game.game).sample ?? '') });
  return picture.element;
}
