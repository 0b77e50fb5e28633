// Board of the position editor: users place, move and remove pieces by mouse, touch and keyboard.

import { h } from '../ui/dom.ts';
import { enableDragging } from '../board/dragging.ts';
import { Annotations } from '../board/annotations.ts';
import { conventionsOf, destinationOf } from '../model/game-conventions.ts';
import { boardStyleOf } from '../board/background.ts';
import { coordinateLabels } from '../board/coordinates.ts';
import { translate } from '../text/language.ts';
import { Layout } from '../board/layout.ts';
import { BoardSvg } from '../board/board-svg.ts';

import type { Game } from '../net/protocol.ts';
import type { Board } from '../model/position.ts';

export interface EditorBoardCallbacks {
  /** places the selected piece, or removes the same piece */
  choose: (square: string) => void;
  clear: (square: string) => void;
  move: (from: string, to: string) => void;
  /** returns whether the key has a function */
  handleKey: (key: string, square: string) => boolean;
}

export class EditorBoard {
  element;
  #game;
  #callbacks;
  #conventions;
  #layout;
  #boardSvg;
  #annotations;
  #grid;
  #surface = h('div', { class: 'surface' });
  #cells = new Map<string, HTMLElement>();
  /** Square of the only cell in the tab order. */
  #current;
  #board;
  #isFlipped = false;

  constructor(game: Game, board: Board, callbacks: EditorBoardCallbacks) {
    this.#game = game;
    this.#callbacks = callbacks;
    this.#board = board;
    this.#conventions = conventionsOf(game.game);
    this.#layout = new Layout(game);
    this.#boardSvg = new BoardSvg(game, this.#layout);
    this.#annotations = new Annotations(this.#layout);
    this.#current = this.#layout.rows[0]?.[0] ?? '';
    this.#grid = this.#createGrid();
    this.element = h('div', { class: `board ${boardStyleOf(game)}` });
    this.element.style.setProperty('--files', String(game.files));
    this.element.style.setProperty('--ranks', String(game.ranks));
    this.#rebuild();
  }

  show(board: Board) {
    this.#board = board;
    this.#annotations.setPosition(board.position);
    this.#boardSvg.show({ board });
    for (const [square, cell] of this.#cells) {
      cell.setAttribute('aria-label', describeSquare(board, square));
      cell.classList.toggle('movable', this.#canDrag(square));
    }
  }

  flip() {
    const hadFocus = this.#grid.contains(document.activeElement);
    this.#isFlipped = !this.#isFlipped;
    this.#layout = new Layout(this.#game, this.#isFlipped);
    this.#boardSvg = new BoardSvg(this.#game, this.#layout);
    this.#grid = this.#createGrid();
    this.#rebuild();
    if (hadFocus) this.#cells.get(this.#current)?.focus();
  }

  showBestMove(move: string) {
    const [from, ...rest] = this.#conventions.path(move, this.#board);
    const to = rest.at(-1) ?? from ?? destinationOf(move, this.#board);
    if (to !== null && to !== undefined) this.#annotations.showBestMove(from ?? to, to);
  }

  /** In games with gravity, pieces cannot be dragged. */
  #canDrag(square: string) {
    return !this.#conventions.hasGravity && !this.#board.isEmpty(square);
  }

  #rebuild() {
    const { fileLabel, rankLabel } = this.#conventions;
    this.#boardSvg.element.append(this.#annotations.element);
    this.#annotations.setLayout(this.#layout);
    this.#surface.replaceChildren(this.#boardSvg.element, this.#grid);
    this.element.replaceChildren(
      coordinateLabels('ranks', this.#layout.ranks().map(rankLabel)),
      this.#surface,
      coordinateLabels('files', this.#layout.files().map(fileLabel)),
    );
    this.show(this.#board);
  }

  #createGrid() {
    this.#cells.clear();
    const rows = this.#layout.rows.map((squares) =>
      h('div', { role: 'row' }, ...squares.map((square) => this.#createCell(square))),
    );
    const grid = h(
      'div',
      {
        ...{
          class: 'cells',
          role: 'grid',
          'aria-label': translate('board.of', { game: this.#game.title }),
        },
        onkeydown: (event: KeyboardEvent) => this.#onKeydown(event),
      },
      ...rows,
    );
    this.#setCurrent(this.#current);
    enableDragging(grid, {
      canDrag: (square) => this.#canDrag(square),
      onDragStart: (square) => this.#setCurrent(square),
      onDragMove: (square, { xFraction, yFraction, isTouch }) => {
        const { files, ranks } = this.#game;
        const [x, y] = [xFraction * files * 100, yFraction * ranks * 100];
        this.#boardSvg.dragPiece(square, { x, y, lifted: isTouch });
      },
      onDrop: (from, to) => {
        this.#boardSvg.dragPiece(from, null);
        if (to === null) this.#callbacks.clear(from);
        else this.#callbacks.move(from, to);
      },
    });
    return grid;
  }

  #createCell(square: string) {
    const cell = h('div', {
      ...{ role: 'gridcell', tabindex: -1, 'data-square': square },
      onclick: () => {
        this.#setCurrent(square);
        this.#callbacks.choose(square);
      },
      onfocus: () => this.#setCurrent(square),
    });
    this.#cells.set(square, cell);
    return cell;
  }

  #setCurrent(square: string) {
    this.#cells.get(this.#current)?.setAttribute('tabindex', '-1');
    this.#current = square;
    this.#cells.get(square)?.setAttribute('tabindex', '0');
  }

  #onKeydown(event: KeyboardEvent) {
    const { key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const square = this.#layout.squareForKey(this.#current, key);
    if (square !== undefined) {
      if (square !== null) this.#setCurrent(square);
      this.#cells.get(this.#current)?.focus();
    } else if (key === 'Enter' || key === ' ') {
      if (!event.repeat) this.#callbacks.choose(this.#current);
    } else if (key === 'Delete' || key === 'Backspace') {
      this.#callbacks.clear(this.#current);
    } else if (!this.#callbacks.handleKey(key, this.#current)) {
      return;
    }
    event.preventDefault();
  }
}

/** Square and piece, for screen readers. */
export function describeSquare(board: Board, square: string) {
  const piece = board.isEmpty(square)
    ? translate('cell.empty')
    : board.pieceName(board.pieceAt(square));
  return `${conventionsOf(board.game).squareLabel(square) || translate('cell.out')}, ${piece}`;
}
