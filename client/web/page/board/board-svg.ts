// The board as a picture: what lies under the pieces, the pieces, and what lies over them. One unit
// is a hundredth of a square.

import { updateClass, svg } from '../ui/dom.ts';
import { EMPTY } from '../model/fen.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { drawBackground, boardStyleOf, platePath } from './background.ts';
import { Layout } from './layout.ts';
import { drawPiece } from './piece.ts';
import { Board } from '../model/position.ts';

import type { Game } from '../net/protocol.ts';

/** What is to be seen. */
export interface BoardSvgState {
  board: Board;
  /** the squares of the last move */
  last?: string[];
  /** the winning line */
  winningLine?: string[];
  /** the squares of the move that is about to be chosen */
  hoverSquares?: string[];
  /** the squares chosen so far; what stands on the first is picked up */
  selectedSquares?: string[];
  /** where one could play next */
  targets?: string[];
  /** the squares of a move that is chosen ahead */
  premoveSquares?: string[];
  /** what has to be played with */
  forcedPieces?: string[];
  /** the square of a king that is attacked */
  check?: string | null;
  /** a piece that could come to stand there */
  ghost?: { square: string; piece: string } | null;
  /** whether new pieces arrive before one's eyes */
  isAnimated?: boolean;
}

/** The corners of a square: where rings tell what can be done, they tell what was done. */
const CORNERS = 'v-20h20m50 0h20v20m0 50v20h-20m-50 0h-20v-20';

/** So far above a finger a piece is carried. */
const LIFT = 70;

/** How long a piece takes to its new square. */
const SLIDE_MS = 180;
/** More than come to new squares in any one move; after a jump in time nothing slides. */
const SLIDES_MAX = 2;

export class BoardSvg {
  element;
  layout;
  #game;
  #look;
  #pieces = svg('g', {});
  #over = svg('g', {});
  /** What is carried, above all else. */
  #top = svg('g', {});
  #standing: Map<string, { piece: string; element: SVGElement }> = new Map();
  /** What lies under the pieces, by its square. */
  #tiles: Map<string | undefined, Element>;
  /** What has each class now. */
  #marked: Map<string, Set<Element | undefined>> = new Map();
  /** What is drawn over the pieces. */
  #rings: Map<string, Element> = new Map();
  #ghost: SVGElement | null = null;
  #ghosted = '';

  constructor(game: Game, layout: Layout = new Layout(game)) {
    this.#game = game;
    this.layout = layout;
    const look = boardStyleOf(game);
    this.#look = look;
    const size = `0 0 ${game.files * 100} ${game.ranks * 100}`;
    const plate = look === 'plate' ? svg('path', { class: 'plate', d: platePath(game) }) : null;
    const tiles = drawBackground(game, layout);
    this.#tiles = new Map(tiles.map((tile) => [tile.dataset.square, tile]));
    this.element = svg(
      'svg',
      { class: `picture ${look}`, viewBox: size, 'aria-hidden': 'true' },
      svg('g', {}, ...tiles),
      this.#pieces,
      plate,
      this.#over,
      this.#top,
    );
  }

  show(scene: BoardSvgState) {
    const {
      board,
      last = [],
      winningLine: line = [],
      hoverSquares: aim = [],
      selectedSquares: way = [],
      check = null,
      ghost = null,
    } = scene;
    this.#stand(board, last, scene.isAnimated ?? false);
    const standing = (square: string) => this.#standing.get(square)?.element;
    const others = [...this.#standing.keys()].filter((square) => !line.includes(square));
    this.#mark('dim', line.length > 0 ? others.map(standing) : []);
    this.#mark('picked', way.slice(0, 1).map(standing));
    const tile = (square: string) => this.#tiles.get(square);
    for (const [name, squares] of Object.entries({ last, line, aim, way, check: [check ?? ''] }))
      this.#mark(name, squares.map(tile));
    this.#ring(scene);
    const ghosted = ghost ? `${ghost.square} ${ghost.piece}` : '';
    if (ghosted === this.#ghosted) return;
    this.#ghosted = ghosted;
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
   * @param place `lifted` above a finger
   */
  dragPiece(square: string, place: { x: number; y: number; lifted?: boolean } | null) {
    const element = this.#standing.get(square)?.element;
    if (!element) return;
    const { x, y } = place ?? this.layout.center(square);
    const isLifted = place?.lifted === true;
    element.setAttribute('transform', `translate(${x} ${isLifted ? y - LIFT : y})`);
    element.classList.toggle('carried', place !== null);
    element.classList.toggle('lifted', isLifted);
    const layer = place ? this.#top : this.#pieces;
    if (element.parentNode !== layer) layer.append(element);
  }

  #mark(name: string, these: (Element | undefined)[]) {
    this.#marked.set(name, updateClass(name, this.#marked.get(name) ?? [], these));
  }

  /** Leaves the marks that stay, and draws those that come. */
  #ring(scene: BoardSvgState) {
    const now = new Map(rings(scene, this.#look).map((mark) => [Object.values(mark).join(), mark]));
    for (const [key, element] of this.#rings) {
      if (now.has(key)) continue;
      element.remove();
      this.#rings.delete(key);
    }
    for (const [key, { square, look, r }] of now) {
      if (this.#rings.has(key)) continue;
      const { x, y } = this.layout.center(square);
      const element = r
        ? svg('circle', { class: look, cx: x, cy: y, r })
        : svg('path', { class: look, d: `M${x - 45} ${y - 25}${CORNERS}` });
      this.#rings.set(key, element);
      this.#over.append(element);
    }
  }

  #stand(board: Board, last: string[], moving: boolean) {
    const now = (square: string) => {
      const piece = board.pieceAt(square);
      return piece === EMPTY ? '' : piece;
    };
    const before = (square: string) => this.#standing.get(square)?.piece ?? '';
    const changed = [...board.squares()].filter((square) => now(square) !== before(square));
    const come = changed.filter((square) => now(square) !== '');
    const left = changed.filter((square) => before(square) !== '');
    const slides = moving && last.length > 1 && come.length <= SLIDES_MAX;
    const from = (square: string) => {
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
      const piece = board.pieceAt(square);
      const drawn = drawPiece(board, piece);
      const element = this.#at(square, drawn);
      this.#pieces.append(element);
      this.#standing.set(square, { piece, element });
      if (from !== undefined) this.#slide(drawn, from, square);
      else if (moving && !slides) this.#arrive(board, drawn, square, turns);
    }
  }

  /** @param turns whether a piece of the other side stood there */
  #arrive(board: Board, drawn: SVGElement, square: string, turns: boolean) {
    const above = board.ranks - (board.coordinatesOf(square)?.rank ?? 0);
    const { hasGravity: falls } = conventionsOf(this.#game.game);
    drawn.classList.add(falls ? 'falls' : turns ? 'turns' : 'arrives');
    drawn.style.setProperty('--squares', String(above));
  }

  #slide(drawn: SVGElement, from: string, to: string) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const [start, end] = [this.layout.center(from), this.layout.center(to)];
    const away = `translate(${start.x - end.x}px, ${start.y - end.y}px)`;
    drawn.animate([{ transform: away }, { transform: 'none' }], {
      duration: SLIDE_MS,
      easing: 'ease-out',
    });
  }

  #at(square: string, drawn: SVGElement) {
    const { x, y } = this.layout.center(square);
    return svg('g', { transform: `translate(${x} ${y})` }, drawn);
  }
}

/**
 * What is drawn over the pieces: on which square, with which classes, and of which size if it is a ring or a dot.
 * @param ground how the board is drawn
 */
function rings(
  {
    board,
    last = [],
    winningLine: line = [],
    targets = [],
    forcedPieces: movers = [],
    premoveSquares: queued = [],
  }: BoardSvgState,
  ground: string,
): { square: string; look: string; r?: number }[] {
  const ring = (kind: string, r: number) => (square: string) => ({
    square,
    look: `mark-${kind} on-${board.seatOf(board.pieceAt(square)) ?? 'none'}`,
    r,
  });
  const lastMark = (square: string) => {
    const kind = `last${line.includes(square) ? ' in-line' : ''}`;
    return ground === 'chequers' ? { square, look: `mark-${kind}` } : ring(kind, 46)(square);
  };
  const isFree = (square: string) => board.isEmpty(square);
  return [
    ...line.map(ring('line', 44)),
    ...last.map(lastMark),
    ...queued.map(ring('queued', 40)),
    ...movers.map(ring('mover', 45)),
    ...targets.filter(isFree).map(ring('target', 15)),
    ...targets.filter((square) => !isFree(square)).map(ring('capture', 44)),
  ];
}

/** A small picture of what a game is like. */
export function sampleBoardSvg(game: Game) {
  const picture = new BoardSvg(game);
  picture.show({ board: new Board(game, conventionsOf(game.game).sample ?? '') });
  return picture.element;
}
