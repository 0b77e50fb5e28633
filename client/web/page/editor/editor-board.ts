// A board on which pieces are put, moved and taken away, by mouse, finger and keyboard.

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

/** What is done on it. */
export interface EditorBoardCallbacks {
  /** puts there what is chosen, or takes away what stands there */
  choose: (square: string) => void;
  /** takes away what stands there */
  clear: (square: string) => void;
  move: (from: string, to: string) => void;
  /** whether another key means something */
  handleKey: (key: string, square: string) => boolean;
}

export class EditorBoard {
  element;
  #game;
  #does;
  #customs;
  #layout;
  #picture;
  #drawings;
  #grid;
  #surface = h('div', { class: 'surface' });
  #cells: Map<string, HTMLElement> = new Map();
  /** The one cell that the tabulator reaches. */
  #current;
  #board;
  #turned = false;

  constructor(game: Game, board: Board, does: EditorBoardCallbacks) {
    this.#game = game;
    this.#does = does;
    this.#board = board;
    this.#customs = conventionsOf(game.game);
    this.#layout = new Layout(game);
    this.#picture = new BoardSvg(game, this.#layout);
    this.#drawings = new Annotations(this.#layout);
    this.#current = this.#layout.rows[0]?.[0] ?? '';
    this.#grid = this.#makeGrid();
    this.element = h('div', { class: `board ${boardStyleOf(game)}` });
    this.element.style.setProperty('--files', String(game.files));
    this.element.style.setProperty('--ranks', String(game.ranks));
    this.#assemble();
  }

  show(board: Board) {
    this.#board = board;
    this.#drawings.setPosition(board.position);
    this.#picture.show({ board });
    for (const [square, cell] of this.#cells) {
      cell.setAttribute('aria-label', describeSquare(board, square));
      cell.classList.toggle('movable', this.#canTake(square));
    }
  }

  /** Shows it from the other side. */
  flip() {
    const hadFocus = this.#grid.contains(document.activeElement);
    this.#turned = !this.#turned;
    this.#layout = new Layout(this.#game, this.#turned);
    this.#picture = new BoardSvg(this.#game, this.#layout);
    this.#grid = this.#makeGrid();
    this.#assemble();
    if (hadFocus) this.#cells.get(this.#current)?.focus();
  }

  /** Draws a move on it. */
  showBestMove(move: string) {
    const [from, ...rest] = this.#customs.path(move, this.#board);
    const to = rest.at(-1) ?? from ?? destinationOf(move, this.#board);
    if (to !== null && to !== undefined) this.#drawings.showBestMove(from ?? to, to);
  }

  /** Where a piece falls into its place, it cannot be carried to another. */
  #canTake(square: string) {
    return !this.#customs.hasGravity && !this.#board.isEmpty(square);
  }

  #assemble() {
    const { fileLabel, rankLabel } = this.#customs;
    this.#picture.element.append(this.#drawings.element);
    this.#drawings.setLayout(this.#layout);
    this.#surface.replaceChildren(this.#picture.element, this.#grid);
    this.element.replaceChildren(
      coordinateLabels('ranks', this.#layout.ranks().map(rankLabel)),
      this.#surface,
      coordinateLabels('files', this.#layout.files().map(fileLabel)),
    );
    this.show(this.#board);
  }

  #makeGrid() {
    this.#cells.clear();
    const rows = this.#layout.rows.map((squares) =>
      h('div', { role: 'row' }, ...squares.map((square) => this.#makeCell(square))),
    );
    const grid = h(
      'div',
      {
        ...{
          class: 'cells',
          role: 'grid',
          'aria-label': translate('board.of', { game: this.#game.title }),
        },
        onkeydown: (event: KeyboardEvent) => this.#key(event),
      },
      ...rows,
    );
    this.#moveTo(this.#current);
    enableDragging(grid, {
      canDrag: (square) => this.#canTake(square),
      onDragStart: (square) => this.#moveTo(square),
      onDragMove: (square, { xFraction: right, yFraction: down, isTouch: isTouched }) => {
        const { files, ranks } = this.#game;
        const [x, y] = [right * files * 100, down * ranks * 100];
        this.#picture.dragPiece(square, { x, y, lifted: isTouched });
      },
      onDrop: (from, to) => {
        this.#picture.dragPiece(from, null);
        if (to === null) this.#does.clear(from);
        else this.#does.move(from, to);
      },
    });
    return grid;
  }

  #makeCell(square: string) {
    const cell = h('div', {
      ...{ role: 'gridcell', tabindex: -1, 'data-square': square },
      onclick: () => {
        this.#moveTo(square);
        this.#does.choose(square);
      },
      onfocus: () => this.#moveTo(square),
    });
    this.#cells.set(square, cell);
    return cell;
  }

  #moveTo(square: string) {
    this.#cells.get(this.#current)?.setAttribute('tabindex', '-1');
    this.#current = square;
    this.#cells.get(square)?.setAttribute('tabindex', '0');
  }

  #key(event: KeyboardEvent) {
    const { key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const square = this.#layout.squareForKey(this.#current, key);
    if (square !== undefined) {
      if (square !== null) this.#moveTo(square);
      this.#cells.get(this.#current)?.focus();
    } else if (key === 'Enter' || key === ' ') {
      if (!event.repeat) this.#does.choose(this.#current);
    } else if (key === 'Delete' || key === 'Backspace') {
      this.#does.clear(this.#current);
    } else if (!this.#does.handleKey(key, this.#current)) {
      return;
    }
    event.preventDefault();
  }
}

/** What stands on a square, for those who do not see it. */
export function describeSquare(board: Board, square: string) {
  const piece = board.isEmpty(square)
    ? translate('cell.empty')
    : board.pieceName(board.pieceAt(square));
  return `${conventionsOf(board.game).squareLabel(square) || translate('cell.out')}, ${piece}`;
}
