// Draws a board as SVG: background, pieces and marks. One unit is a hundredth of a square.

import { updateClass, svg } from '../ui/dom.ts';
import { EMPTY } from '../model/fen.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { drawBackground, boardStyleOf, platePath } from './background.ts';
import { Layout } from './layout.ts';
import { drawPiece } from './piece.ts';
import { Board } from '../model/position.ts';

import type { Game } from '../net/protocol.ts';

export interface BoardSvgState {
  board: Board;
  /** the squares of the last move */
  last?: string[];
  /** the winning line */
  winningLine?: string[];
  /** the squares of the move under the mouse or the focus */
  hoverSquares?: string[];
  /** the selected squares; the first has the selected piece */
  selectedSquares?: string[];
  /** the possible next squares */
  targets?: string[];
  /** the squares of the premove */
  premoveSquares?: string[];
  /** the squares of the pieces that must move */
  forcedPieces?: string[];
  /** the square of a king in check */
  check?: string | null;
  /** a preview of a piece on its destination */
  ghost?: { square: string; piece: string } | null;
  /** whether changes of the position are animated */
  isAnimated?: boolean;
}

/** Path of the last move's mark on a chequered board, where rings mark the targets. */
const CORNERS = 'v-20h20m50 0h20v20m0 50v20h-20m-50 0h-20v-20';

/** Height of a dragged piece above the finger. */
const LIFT = 70;

const SLIDE_MS = 180;
/** A move changes at most two destinations (castling). After a larger change no piece slides. */
const SLIDES_MAX = 2;

export class BoardSvg {
  element;
  layout;
  #game;
  #style;
  #pieces = svg('g', {});
  #marks = svg('g', {});
  /** Layer of the dragged piece. */
  #dragLayer = svg('g', {});
  /** The drawn pieces by square. */
  #drawnPieces: Map<string, { piece: string; element: SVGElement }> = new Map();
  /** The background elements by square. */
  #tiles: Map<string | undefined, Element>;
  /** The elements with each class. */
  #elementsByClass: Map<string, Set<Element | undefined>> = new Map();
  #rings: Map<string, Element> = new Map();
  #ghost: SVGElement | null = null;
  #ghostKey = '';

  constructor(game: Game, layout: Layout = new Layout(game)) {
    this.#game = game;
    this.layout = layout;
    const style = boardStyleOf(game);
    this.#style = style;
    const viewBox = `0 0 ${game.files * 100} ${game.ranks * 100}`;
    const plate = style === 'plate' ? svg('path', { class: 'plate', d: platePath(game) }) : null;
    const tiles = drawBackground(game, layout);
    this.#tiles = new Map(tiles.map((tile) => [tile.dataset.square, tile]));
    this.element = svg(
      'svg',
      { class: `picture ${style}`, viewBox, 'aria-hidden': 'true' },
      svg('g', {}, ...tiles),
      this.#pieces,
      plate,
      this.#marks,
      this.#dragLayer,
    );
  }

  show(state: BoardSvgState) {
    const {
      board,
      last = [],
      winningLine: line = [],
      hoverSquares: aim = [],
      selectedSquares: way = [],
      check = null,
      ghost = null,
    } = state;
    this.#updatePieces(board, last, state.isAnimated ?? false);
    const pieceElement = (square: string) => this.#drawnPieces.get(square)?.element;
    const others = [...this.#drawnPieces.keys()].filter((square) => !line.includes(square));
    this.#mark('dim', line.length > 0 ? others.map(pieceElement) : []);
    this.#mark('picked', way.slice(0, 1).map(pieceElement));
    const tile = (square: string) => this.#tiles.get(square);
    // The variables are named like the CSS classes.
    for (const [name, squares] of Object.entries({ last, line, aim, way, check: [check ?? ''] }))
      this.#mark(name, squares.map(tile));
    this.#updateRings(state);
    const ghostKey = ghost ? `${ghost.square} ${ghost.piece}` : '';
    if (ghostKey === this.#ghostKey) return;
    this.#ghostKey = ghostKey;
    this.#ghost?.remove();
    this.#ghost = null;
    if (ghost) {
      const drawn = drawPiece(board, ghost.piece);
      this.#ghost = this.#groupAt(ghost.square, drawn);
      this.#ghost.classList.add('ghost');
      this.#pieces.append(this.#ghost);
    }
  }

  /**
   * Moves the piece of a square to a position on the board, or back to its square.
   * @param position with `lifted`, the piece is drawn above the finger
   */
  dragPiece(square: string, position: { x: number; y: number; lifted?: boolean } | null) {
    const element = this.#drawnPieces.get(square)?.element;
    if (!element) return;
    const { x, y } = position ?? this.layout.center(square);
    const isLifted = position?.lifted === true;
    element.setAttribute('transform', `translate(${x} ${isLifted ? y - LIFT : y})`);
    element.classList.toggle('carried', position !== null);
    element.classList.toggle('lifted', isLifted);
    const layer = position ? this.#dragLayer : this.#pieces;
    if (element.parentNode !== layer) layer.append(element);
  }

  #mark(name: string, elements: (Element | undefined)[]) {
    this.#elementsByClass.set(
      name,
      updateClass(name, this.#elementsByClass.get(name) ?? [], elements),
    );
  }

  /** Removes obsolete rings and adds new ones. */
  #updateRings(state: BoardSvgState) {
    const now = new Map(
      rings(state, this.#style).map((mark) => [Object.values(mark).join(), mark]),
    );
    for (const [key, element] of this.#rings) {
      if (now.has(key)) continue;
      element.remove();
      this.#rings.delete(key);
    }
    for (const [key, { square, className, r }] of now) {
      if (this.#rings.has(key)) continue;
      const { x, y } = this.layout.center(square);
      const element = r
        ? svg('circle', { class: className, cx: x, cy: y, r })
        : svg('path', { class: className, d: `M${x - 45} ${y - 25}${CORNERS}` });
      this.#rings.set(key, element);
      this.#marks.append(element);
    }
  }

  #updatePieces(board: Board, last: string[], isAnimated: boolean) {
    const now = (square: string) => {
      const piece = board.pieceAt(square);
      return piece === EMPTY ? '' : piece;
    };
    const before = (square: string) => this.#drawnPieces.get(square)?.piece ?? '';
    const changed = [...board.squares()].filter((square) => now(square) !== before(square));
    const filled = changed.filter((square) => now(square) !== '');
    const vacated = changed.filter((square) => before(square) !== '');
    const slides = isAnimated && last.length > 1 && filled.length <= SLIDES_MAX;
    const from = (square: string) => {
      // A promoted piece slides from the origin of its move.
      const samePiece = vacated.find((other) => before(other) === now(square));
      const origin =
        square === last.at(-1) && vacated.includes(last[0] ?? '') ? last[0] : undefined;
      return slides ? (samePiece ?? origin) : undefined;
    };
    const arrivals = filled.map((square) => ({
      square,
      from: from(square),
      turns: before(square) !== '' && board.seatOf(before(square)) !== board.seatOf(now(square)),
    }));
    for (const square of vacated) {
      this.#drawnPieces.get(square)?.element.remove();
      this.#drawnPieces.delete(square);
    }
    for (const { square, from, turns } of arrivals) {
      const piece = board.pieceAt(square);
      const drawn = drawPiece(board, piece);
      const element = this.#groupAt(square, drawn);
      this.#pieces.append(element);
      this.#drawnPieces.set(square, { piece, element });
      if (from !== undefined) this.#slide(drawn, from, square);
      else if (isAnimated && !slides) this.#arrive(board, drawn, square, turns);
    }
  }

  /** @param turns whether the square had a piece of the other side */
  #arrive(board: Board, drawn: SVGElement, square: string, turns: boolean) {
    const above = board.ranks - (board.coordinatesOf(square)?.rank ?? 0);
    const { hasGravity } = conventionsOf(this.#game.game);
    drawn.classList.add(hasGravity ? 'falls' : turns ? 'turns' : 'arrives');
    drawn.style.setProperty('--squares', String(above));
  }

  #slide(drawn: SVGElement, from: string, to: string) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const [start, end] = [this.layout.center(from), this.layout.center(to)];
    const offset = `translate(${start.x - end.x}px, ${start.y - end.y}px)`;
    drawn.animate([{ transform: offset }, { transform: 'none' }], {
      duration: SLIDE_MS,
      easing: 'ease-out',
    });
  }

  #groupAt(square: string, drawn: SVGElement) {
    const { x, y } = this.layout.center(square);
    return svg('g', { transform: `translate(${x} ${y})` }, drawn);
  }
}

/** Returns the marks over the pieces. A mark without a radius is drawn as corners. */
function rings(
  {
    board,
    last = [],
    winningLine = [],
    targets = [],
    forcedPieces = [],
    premoveSquares = [],
  }: BoardSvgState,
  style: string,
): { square: string; className: string; r?: number }[] {
  const ring = (kind: string, r: number) => (square: string) => ({
    square,
    className: `mark-${kind} on-${board.seatOf(board.pieceAt(square)) ?? 'none'}`,
    r,
  });
  const lastMark = (square: string) => {
    const kind = `last${winningLine.includes(square) ? ' in-line' : ''}`;
    return style === 'chequers' ? { square, className: `mark-${kind}` } : ring(kind, 46)(square);
  };
  const isFree = (square: string) => board.isEmpty(square);
  return [
    ...winningLine.map(ring('line', 44)),
    ...last.map(lastMark),
    ...premoveSquares.map(ring('queued', 40)),
    ...forcedPieces.map(ring('mover', 45)),
    ...targets.filter(isFree).map(ring('target', 15)),
    ...targets.filter((square) => !isFree(square)).map(ring('capture', 44)),
  ];
}

/** Draws a typical position of a game. */
export function sampleBoardSvg(game: Game) {
  const picture = new BoardSvg(game);
  picture.show({ board: new Board(game, conventionsOf(game.game).sample ?? '') });
  return picture.element;
}
