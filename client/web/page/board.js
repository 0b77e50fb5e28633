// The board to play on: a picture, and over it a grid of named cells for mouse, touch, keyboard and
// screen readers.

import { h, write } from './dom.js';
import { customsOf, moveOfKey } from './games.js';
import { Picture } from './picture.js';
import { Board } from './position.js';

/** @import { Game } from '../protocol.js' */

/**
 * What the board shows and allows now.
 * @typedef {object} View
 * @property {Board} board
 * @property {string[]} last the squares of the last move
 * @property {string[]} line the winning line
 * @property {string[]} legal the moves that may be chosen now
 * @property {number | null} seat whose piece a chosen move brings
 * @property {boolean} moving whether new pieces arrive before one's eyes
 */

export class BoardView {
  element;
  #game;
  #customs;
  #picture;
  #play;
  #grid;
  /** @type {Map<string, HTMLElement>} */
  #cells = new Map();
  /** Which move each square stands for. @type {Map<string, string>} */
  #moves = new Map();
  /** The one cell that the tabulator reaches. */
  #current = '';
  /** Whether the focus came by a click: then the arrow keys belong to the board only in play. */
  #clicked = false;
  /** The square under the mouse or the focus. @type {string | null} */
  #aim = null;
  /** @type {View} */
  #view;

  /**
   * @param {Game} game
   * @param {(move: string) => void} play
   */
  constructor(game, play) {
    this.#game = game;
    this.#play = play;
    this.#customs = customsOf(game.game);
    this.#picture = new Picture(game);
    const board = new Board(game, '');
    this.#view = { board, last: [], line: [], legal: [], seat: null, moving: false };
    this.#grid = this.#makeGrid(board);
    this.element = h(
      'div',
      { class: `board ${this.#customs.look ?? 'tiles'}` },
      this.#labels('ranks', game.ranks, this.#customs.rankLabel),
      h('div', { class: 'surface' }, this.#picture.element, this.#grid),
      this.#labels('files', game.files, this.#customs.fileLabel),
    );
    this.element.style.setProperty('--files', String(game.files));
    this.element.style.setProperty('--ranks', String(game.ranks));
  }

  /** @param {View} view */
  show(view) {
    this.#view = view;
    this.#moves.clear();
    for (const move of view.legal) {
      for (const square of this.#customs.squares(move, view.board)) this.#moves.set(square, move);
    }
    for (const [square, cell] of this.#cells) this.#describe(square, cell);
    this.#grid.classList.toggle('mine', view.legal.length > 0);
    this.#draw();
  }

  /** The moves that no square stands for. */
  otherMoves() {
    const shown = new Set(this.#moves.values());
    return this.#view.legal.filter((move) => !shown.has(move));
  }

  focus() {
    this.#cells.get(this.#current)?.focus();
  }

  #draw() {
    const { board, last, line, seat, moving } = this.#view;
    const move = this.#aim === null ? undefined : this.#moves.get(this.#aim);
    const square = move === undefined ? null : this.#customs.landing(move, board);
    const ghost = square && seat !== null ? { square, piece: board.pieceOf(seat) } : null;
    const aim = move === undefined ? [] : this.#customs.squares(move, board);
    this.#picture.show({ board, last, line, aim, ghost, moving });
    for (const [square, cell] of this.#cells) cell.classList.toggle('aim', aim.includes(square));
  }

  /** @param {string | null} square */
  #aimAt(square) {
    this.#aim = square;
    this.#draw();
  }

  /** @param {string} square @param {HTMLElement} cell */
  #describe(square, cell) {
    const { board, last, line } = this.#view;
    const seat = board.seatOf(board.at(square));
    const piece = board.isEmpty(square)
      ? 'empty'
      : seat === null
        ? board.at(square)
        : board.sides[seat];
    const legal = this.#moves.has(square);
    const parts = [
      square,
      piece,
      last.includes(square) && 'last move',
      line.includes(square) && 'winning line',
    ];
    cell.setAttribute('aria-label', parts.filter(Boolean).join(', '));
    cell.setAttribute('aria-disabled', String(!legal));
    cell.classList.toggle('legal', legal);
  }

  /** @param {Board} board */
  #makeGrid(board) {
    const rows = Array.from({ length: board.ranks }, (_, row) => {
      const rank = board.ranks - 1 - row;
      const cells = Array.from({ length: board.files }, (_, file) =>
        this.#makeCell(board.name(file, rank)),
      );
      return h('div', { role: 'row' }, ...cells);
    });
    this.#moveTo(board.name(Math.floor((board.files - 1) / 2), Math.floor(board.ranks / 2)));
    return h(
      'div',
      {
        class: 'cells',
        role: 'grid',
        'aria-label': `Board of ${this.#game.title}`,
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
        onfocusout: () => this.#aimAt(null),
        onpointerleave: () => this.#aimAt(null),
      },
      ...rows,
    );
  }

  /** @param {string} square */
  #makeCell(square) {
    const cell = h('div', {
      role: 'gridcell',
      tabindex: -1,
      'data-square': square,
      onclick: () => {
        this.#clicked = true;
        this.#moveTo(square);
        this.#choose(square);
      },
      onfocus: () => {
        this.#moveTo(square);
        // A touch focuses, too, but leaves nothing that hovers.
        if (!cell.matches(':focus-visible')) return;
        this.#clicked = false;
        this.#aimAt(square);
      },
      onpointerenter: (/** @type {PointerEvent} */ event) => {
        if (event.pointerType === 'mouse') this.#aimAt(square);
      },
    });
    this.#cells.set(square, cell);
    return cell;
  }

  /** @param {string} square */
  #choose(square) {
    const move = this.#moves.get(square);
    if (move !== undefined) this.#play(move);
  }

  /** @param {string} square */
  #moveTo(square) {
    this.#cells.get(this.#current)?.setAttribute('tabindex', '-1');
    this.#current = square;
    this.#cells.get(square)?.setAttribute('tabindex', '0');
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { board } = this.#view;
    const place = board.place(this.#current);
    if (!place || event.ctrlKey || event.altKey || event.metaKey) return;
    // A key that is a move is the room's.
    if (moveOfKey(this.#game.game, event) !== null) return;
    // Elsewhere they step through the moves.
    if (this.#clicked && this.#moves.size === 0) return;
    const { file, rank } = place;
    /** @type {Record<string, [number, number]>} */
    const steps = {
      ArrowLeft: [file - 1, rank],
      ArrowRight: [file + 1, rank],
      ArrowUp: [file, rank + 1],
      ArrowDown: [file, rank - 1],
      Home: [0, rank],
      End: [board.files - 1, rank],
    };
    const step = steps[event.key];
    if (step) {
      const square = board.name(...step);
      if (board.has(square)) {
        this.#moveTo(square);
        this.focus();
      }
    } else if (event.key === 'Enter' || event.key === ' ') {
      // A key that is held would play on every turn.
      if (!event.repeat) this.#choose(this.#current);
    } else {
      return;
    }
    // Neither the page nor the list of moves takes these steps, too.
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {'files' | 'ranks'} name
   * @param {number} count
   * @param {(index: number) => string} label
   */
  #labels(name, count, label) {
    const labels = Array.from({ length: count }, (_, index) => {
      const element = h('span', {});
      write(element, label(name === 'ranks' ? count - 1 - index : index));
      return element;
    });
    return h('div', { class: `labels ${name}`, 'aria-hidden': 'true' }, ...labels);
  }
}
