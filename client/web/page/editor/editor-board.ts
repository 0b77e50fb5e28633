// A board on which pieces are put, moved and taken away, by mouse, finger and keyboard.

import { h } from '../ui/dom.ts';
import { dragged } from '../board/dragging.ts';
import { Drawings } from '../board/annotations.ts';
import { customsOf, landingOf } from '../model/games.ts';
import { lookOf } from '../board/background.ts';
import { labels } from '../board/coordinates.ts';
import { say } from '../text/language.ts';
import { Layout } from '../board/layout.ts';
import { Picture } from '../board/picture.ts';

import type { Game } from '../net/protocol.ts';
import type { Board } from '../model/position.ts';

/** What is done on it. */
export interface Does {
  /** puts there what is chosen, or takes away what stands there */
  choose: (square: string) => void;
  /** takes away what stands there */
  clear: (square: string) => void;
  move: (from: string, to: string) => void;
  /** whether another key means something */
  key: (key: string, square: string) => boolean;
}

export class EditBoard {
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

  constructor(game: Game, board: Board, does: Does) {
    this.#game = game;
    this.#does = does;
    this.#board = board;
    this.#customs = customsOf(game.game);
    this.#layout = new Layout(game);
    this.#picture = new Picture(game, this.#layout);
    this.#drawings = new Drawings(this.#layout);
    this.#current = this.#layout.rows[0]?.[0] ?? '';
    this.#grid = this.#makeGrid();
    this.element = h('div', { class: `board ${lookOf(game)}` });
    this.element.style.setProperty('--files', String(game.files));
    this.element.style.setProperty('--ranks', String(game.ranks));
    this.#assemble();
  }

  show(board: Board) {
    this.#board = board;
    this.#drawings.show(board.position);
    this.#picture.show({ board });
    for (const [square, cell] of this.#cells) {
      cell.setAttribute('aria-label', squareWords(board, square));
      cell.classList.toggle('movable', this.#canTake(square));
    }
  }

  /** Shows it from the other side. */
  turn() {
    const hadFocus = this.#grid.contains(document.activeElement);
    this.#turned = !this.#turned;
    this.#layout = new Layout(this.#game, this.#turned);
    this.#picture = new Picture(this.#game, this.#layout);
    this.#grid = this.#makeGrid();
    this.#assemble();
    if (hadFocus) this.#cells.get(this.#current)?.focus();
  }

  /** Draws a move on it. */
  advise(move: string) {
    const [from, ...rest] = this.#customs.path(move, this.#board);
    const to = rest.at(-1) ?? from ?? landingOf(move, this.#board);
    if (to !== null && to !== undefined) this.#drawings.advise(from ?? to, to);
  }

  /** Where a piece falls into its place, it cannot be carried to another. */
  #canTake(square: string) {
    return !this.#customs.falls && !this.#board.isEmpty(square);
  }

  #assemble() {
    const { fileLabel, rankLabel } = this.#customs;
    this.#picture.element.append(this.#drawings.element);
    this.#drawings.turn(this.#layout);
    this.#surface.replaceChildren(this.#picture.element, this.#grid);
    this.element.replaceChildren(
      labels('ranks', this.#layout.ranks().map(rankLabel)),
      this.#surface,
      labels('files', this.#layout.files().map(fileLabel)),
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
          'aria-label': say('board.of', { game: this.#game.title }),
        },
        onkeydown: (event: KeyboardEvent) => this.#key(event),
      },
      ...rows,
    );
    this.#moveTo(this.#current);
    dragged(grid, {
      canTake: (square) => this.#canTake(square),
      take: (square) => this.#moveTo(square),
      carry: (square, { right, down, isTouched }) => {
        const { files, ranks } = this.#game;
        const [x, y] = [right * files * 100, down * ranks * 100];
        this.#picture.carry(square, { x, y, lifted: isTouched });
      },
      drop: (from, to) => {
        this.#picture.carry(from, null);
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
    const square = this.#layout.step(this.#current, key);
    if (square !== undefined) {
      if (square !== null) this.#moveTo(square);
      this.#cells.get(this.#current)?.focus();
    } else if (key === 'Enter' || key === ' ') {
      if (!event.repeat) this.#does.choose(this.#current);
    } else if (key === 'Delete' || key === 'Backspace') {
      this.#does.clear(this.#current);
    } else if (!this.#does.key(key, this.#current)) {
      return;
    }
    event.preventDefault();
  }
}

/** What stands on a square, for those who do not see it. */
export function squareWords(board: Board, square: string) {
  const piece = board.isEmpty(square) ? say('cell.empty') : board.called(board.at(square));
  return `${customsOf(board.game).label(square) || say('cell.out')}, ${piece}`;
}
