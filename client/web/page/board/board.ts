// The board to play on: a picture, and over it a grid of named cells for mouse, touch, keyboard and
// screen readers.

import { previewSquares, ghostPiece } from './hover.ts';
import { describeSquare, describeSelection } from './square-description.ts';
import { chooseMove } from './ambiguous-move.ts';
import { afterNextPaint, h, updateClass } from '../ui/dom.ts';
import { enableDragging, squareOfTarget } from './dragging.ts';
import { Annotations } from './annotations.ts';
import {
  conventionsOf,
  destinationOf,
  moveForKeyEvent,
  clickSquaresOf,
} from '../model/game-conventions.ts';
import { boardStyleOf } from './background.ts';
import { coordinateLabels } from './coordinates.ts';
import { translate } from '../text/language.ts';
import { Layout } from './layout.ts';
import { MoveSelection } from '../model/move-selection.ts';
import { BoardSvg } from './board-svg.ts';
import { Board } from '../model/position.ts';
import { isTouchMode } from '../ui/input-mode.ts';

import type { Game } from '../net/protocol.ts';
import type { BoardState } from '../model/board-state.ts';

/** What a board does with what is chosen. */
export interface BoardCallbacks {
  play: (move: string) => void;
  /** chooses ahead */
  setPremove: (choice: string) => void;
  cancelPremove: () => void;
  say: (text: string) => void;
}

/** A finger does not hit less. */
const FINGER_PX = 24;

export class BoardView {
  element;
  #game;
  #customs;
  #does;
  #say;
  #surface = h('div', { class: 'surface' });
  #layout;
  #picture;
  #drawings;
  #grid;
  #cells: Map<string, HTMLElement> = new Map();
  /** Which move each square stands for. */
  #moves: Map<string, string> = new Map();
  #picking = new MoveSelection([]);
  /** What there was to choose from when the picking began. */
  #madeFrom = '';
  /** The one cell that the tabulator reaches. */
  #current = '';
  /** Whether one goes over the board by keyboard; else the arrow keys step through the moves. */
  #isByKey = false;
  #isTouched = false;
  /** Whether the focus is not shown, as nobody has pressed a key. */
  #isHidden = false;
  /** The square under the mouse or the focus. */
  #aim: string | null = null;
  /** The cells that have each class now. */
  #marked: Map<string, Set<Element | undefined>> = new Map();
  /** Whether the cells are still to be told what stands there. */
  #isUntold = false;
  /** Withdraws the question which of several moves is meant, when it has another position. */
  #asking = new AbortController();
  /** Whether the next move has been dragged to its square before one's eyes. */
  #isDropped = false;
  #view: BoardState;

  constructor(game: Game, does: BoardCallbacks) {
    this.#game = game;
    this.#does = does;
    this.#say = does.say;
    this.#customs = conventionsOf(game.game);
    const board = new Board(game, '');
    const nothing = {
      last: [],
      winningLine: [],
      legal: [],
      premoveOptions: [],
      premoveSquares: [],
    };
    this.#view = {
      board,
      ...nothing,
      check: null,
      seat: null,
      isAnimated: false,
      isFlipped: false,
    };
    this.#layout = new Layout(game);
    this.#picture = new BoardSvg(game, this.#layout);
    const middle = board.squareName(Math.floor((game.files - 1) / 2), Math.floor(game.ranks / 2));
    this.#current = middle;
    this.#drawings = new Annotations(this.#layout);
    this.#grid = this.#makeGrid();
    this.element = h('div', { class: `board ${boardStyleOf(game)}` });
    this.element.style.setProperty('--files', String(game.files));
    this.element.style.setProperty('--ranks', String(game.ranks));
    this.#assemble();
  }

  show(view: BoardState) {
    if (view.isFlipped !== this.#view.isFlipped) this.#turn(view.isFlipped);
    this.#prepare(view);
    this.#view = { ...view, isAnimated: view.isAnimated && !this.#isDropped };
    this.#isDropped = false;
    this.#drawings.setPosition(view.board.position);
    this.#grid.classList.toggle('mine', view.legal.length > 0);
    this.#refresh();
  }

  /** Draws a move that the search thinks best; it goes with the position. */
  showBestMove(move: string) {
    const { board } = this.#view;
    const [from, ...rest] = conventionsOf(this.#game.game).path(move, board);
    const to = rest.at(-1) ?? from ?? destinationOf(move, board);
    if (to !== null && to !== undefined) this.#drawings.showBestMove(from ?? to, to);
  }

  /** What can be chosen by which squares. */
  #prepare({ board, legal, premoveOptions: ahead }: BoardState) {
    const { path } = this.#customs;
    const options =
      legal.length > 0 ? legal.map((move) => ({ move, path: path(move, board) })) : ahead;
    const from = [legal.join(' '), ahead.length > 0 && board.position].join();
    // What is picked up stays so, when the turn comes, too.
    const isSame = from === this.#madeFrom && options.length > 0;
    if (!isSame) {
      this.#asking.abort();
      const [taken] = this.#isAhead ? this.#picking.selectedSquares : [];
      this.#picking = new MoveSelection(options);
      if (taken !== undefined && this.#picking.origins().has(taken))
        this.#picking.selectSquare(taken);
    }
    this.#madeFrom = from;
    this.#moves.clear();
    for (const { move, path } of options) {
      const squares =
        legal.length > 0 ? clickSquaresOf(move, board) : path.length === 1 ? path : [];
      for (const square of squares) this.#moves.set(square, move);
    }
  }

  /** Whether it is for later what one chooses. */
  get #isAhead() {
    return this.#view.legal.length === 0 && this.#view.premoveOptions.length > 0;
  }

  #play(move: string) {
    if (this.#isAhead) this.#does.setPremove(move);
    else this.#does.play(move);
  }

  /** Where these squares are to be seen. */
  squareRects(squares: string[]) {
    return squares.flatMap((square) => this.#cells.get(square)?.getBoundingClientRect() ?? []);
  }

  /** The moves that no square stands for. */
  movesWithoutSquare() {
    const shown = new Set([...this.#moves.values(), ...this.#picking.moves()]);
    return this.#view.legal.filter((move) => !shown.has(move));
  }

  focus(how?: FocusOptions) {
    this.#cells.get(this.#current)?.focus(how);
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
  }

  #turn(turned: boolean) {
    const hadFocus = this.#grid.contains(document.activeElement);
    this.#layout = new Layout(this.#game, turned);
    this.#picture = new BoardSvg(this.#game, this.#layout);
    this.#grid = this.#makeGrid();
    this.#view = { ...this.#view, isAnimated: false };
    this.#assemble();
    if (hadFocus) this.focus();
  }

  #refresh() {
    const targets = this.#isAhead ? [] : this.#picking.targets();
    this.#mark('legal', [...(this.#isAhead ? [] : this.#moves.keys()), ...targets]);
    this.#mark('movable', this.#picking.origins());
    this.#draw();
    // It is read out later than it is seen, but nobody comes to a square without a name.
    const isNamed = this.#cells.get(this.#current)?.hasAttribute('aria-label');
    if (isNamed && !this.#isUntold) afterNextPaint(() => this.#describe());
    this.#isUntold = isNamed === true;
    if (!isNamed) this.#describe();
  }

  #draw() {
    const {
      board,
      last,
      check,
      winningLine: line,
      legal,
      isAnimated: moving,
      premoveSquares: queued,
    } = this.#view;
    const { showsLegalMoves: showsLegal, forcedMoveText: forced } = this.#customs;
    const { selectedSquares: way } = this.#picking;
    // Nobody knows yet where it may go.
    const targets = this.#isAhead
      ? []
      : [...this.#picking.targets(), ...(showsLegal ? this.#moves.keys() : [])];
    const isForced = way.length === 0 && forced(legal) !== '';
    const intent = {
      boardState: this.#view,
      selection: this.#picking,
      moveBySquare: this.#moves,
      hoverSquare: this.#aim ?? '',
    };
    const aim = previewSquares(intent);
    this.#picture.show({
      ...{
        board,
        last,
        check,
        winningLine: line,
        hoverSquares: aim,
        selectedSquares: way,
        targets,
        isAnimated: moving,
        premoveSquares: queued,
      },
      forcedPieces: isForced ? [...this.#picking.origins()] : [],
      ghost: ghostPiece(intent),
    });
    this.#mark('aim', aim);
  }

  #mark(name: string, squares: Iterable<string>) {
    const cells = [...squares].map((square) => this.#cells.get(square));
    this.#marked.set(name, updateClass(name, this.#marked.get(name) ?? [], cells));
  }

  #aimAt(square: string | null) {
    if (square === this.#aim) return;
    this.#aim = square;
    this.#draw();
  }

  /** Tells what stands on each square, and what can be done there. */
  #describe() {
    this.#isUntold = false;
    const { selectedSquares: way } = this.#picking;
    const { check } = this.#view;
    const isAhead = this.#isAhead;
    // Once for all squares: there may be hundreds of them, and as many moves.
    const targets = isAhead ? new Set() : this.#picking.targets();
    const origins = this.#picking.origins();
    for (const [square, cell] of this.#cells) {
      const isTarget = targets.has(square);
      const now = { isChecked: square === check, isTarget, way };
      const words = describeSquare(this.#view, square, this.#customs.squareLabel(square), now);
      const isOpen = isAhead || isTarget || this.#moves.has(square) || origins.has(square);
      tell(cell, 'aria-label', words);
      tell(cell, 'aria-disabled', String(!isOpen));
    }
  }

  #makeGrid() {
    this.#cells.clear();
    const rows = this.#layout.rows.map((squares) =>
      h('div', { role: 'row' }, ...squares.map((square) => this.#makeCell(square))),
    );
    this.#moveTo(this.#current);
    const grid = h(
      'div',
      {
        class: 'cells',
        role: 'grid',
        'aria-label': translate('board.of', { game: this.#game.title }),
        onkeydown: (event: KeyboardEvent) => this.#key(event),
        // Where the mouse is, it stays.
        onfocusout: ({ target }: FocusEvent) => {
          if (squareOfTarget(target) === this.#aim) this.#aimAt(null);
        },
        onpointerdown: ({ pointerType }: PointerEvent) => {
          this.#isTouched = pointerType === 'touch';
        },
        onpointerleave: ({ pointerType }: PointerEvent) => {
          if (pointerType === 'mouse') this.#aimAt(null);
        },
      },
      ...rows,
    );
    enableDragging(grid, {
      canDrag: (square) => this.#picking.origins().has(square),
      onDragStart: (square) => this.#take(square),
      onDragMove: (
        square,
        { xFraction: right, yFraction: down, overSquare: over, isTouch: isTouched },
      ) => {
        const { files, ranks } = this.#game;
        const [x, y] = [right * files * 100, down * ranks * 100];
        this.#picture.dragPiece(square, { x, y, lifted: isTouched });
        if (over !== this.#aim) this.#aimAt(over);
      },
      onDrop: (from, to) => this.#drop(from, to),
    });
    this.#drawings.attachTo(grid);
    return grid;
  }

  #makeCell(square: string) {
    const cell = h('div', {
      role: 'gridcell',
      tabindex: -1,
      'data-square': square,
      onclick: () => {
        this.#isByKey = false;
        this.#isHidden = false;
        this.#moveTo(square);
        // Where a finger covers several squares, it shows what it means before it plays.
        const isVague = this.#isTouched && cell.clientWidth < FINGER_PX && this.#moves.has(square);
        if (isVague && this.#aim !== square) this.#aimAt(square);
        else this.#choose(square);
      },
      onfocus: () => {
        this.#moveTo(square);
        // A touch focuses, too, but leaves nothing that hovers.
        if (!cell.matches(':focus-visible')) return;
        this.#isHidden = isTouchMode();
        if (!this.#isHidden) this.#goByKey(square);
      },
      onpointerenter: (event: PointerEvent) => {
        if (event.pointerType === 'mouse') this.#aimAt(square);
      },
    });
    this.#cells.set(square, cell);
    return cell;
  }

  #choose(square: string) {
    const { premoveSquares: queued } = this.#view;
    if (this.#picking.selectedSquares.length === 0 && queued.includes(square)) {
      this.#does.cancelPremove();
      return;
    }
    const move = this.#moves.get(square);
    if (move !== undefined) this.#play(move);
    else this.#pick(square);
  }

  #pick(square: string) {
    const had = this.#picking.selectedSquares.length > 0;
    const moves = this.#picking.selectSquare(square);
    const { selectedSquares: way } = this.#picking;
    const view = this.#view;
    if (moves.length > 0) void this.#decide(moves);
    // A move that is played is shown already.
    if (this.#view === view) this.#refresh();
    if (moves.length > 0) return;
    if (way.length > 0) this.#say(this.#told());
    else if (had) this.#say(translate('board.back'));
  }

  /** What is picked up, and where it can go. */
  #told() {
    const { board } = this.#view;
    const { squareLabel: label } = this.#customs;
    const [from = ''] = this.#picking.selectedSquares;
    const targets = this.#isAhead ? [] : [...this.#picking.targets()].map(label);
    return describeSelection(label(from), board.pieceName(board.pieceAt(from)), targets);
  }

  /** Plays the move that was chosen; asks, if there are several. */
  async #decide(moves: string[]) {
    const [only = ''] = moves;
    if (moves.length === 1) {
      this.#play(only);
      return;
    }
    this.#isDropped = false;
    const { board } = this.#view;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const move = await chooseMove(this.#customs.moveChoices(moves, board), board, signal);
    if (move !== null) this.#play(move);
  }

  #take(square: string) {
    if (this.#picking.selectedSquares.join() === square) return;
    this.#picking.clear();
    this.#pick(square);
  }

  #drop(from: string, to: string | null) {
    this.#picture.dragPiece(from, null);
    if (this.#isTouched) this.#aim = null;
    // Whoever brings it back has clicked on it, which is told by the cell.
    if (to === from) return;
    if (to !== null && this.#picking.targets().has(to)) {
      this.#isDropped = !this.#isAhead;
      // As after a click on it: keys go on from here.
      this.#moveTo(to);
      if (this.#cells.get(from)?.matches(':focus')) this.focus();
      this.#pick(to);
    } else {
      this.#letGo();
    }
  }

  #letGo() {
    this.#picking.clear();
    this.#refresh();
    this.#say(translate('board.back'));
  }

  #moveTo(square: string) {
    this.#cells.get(this.#current)?.setAttribute('tabindex', '-1');
    this.#current = square;
    this.#cells.get(square)?.setAttribute('tabindex', '0');
  }

  #goByKey(square: string) {
    this.#isByKey = true;
    this.#aimAt(square);
  }

  #key(event: KeyboardEvent) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const isFirst = this.#isHidden;
    this.#isHidden = false;
    if (isFirst) this.#goByKey(this.#current);
    // A key that is a move is the room's.
    if (moveForKeyEvent(this.#game.game, event) !== null) return;
    // Whoever does not choose by keyboard steps through the moves.
    const isChoosing = this.#isByKey && (this.#view.legal.length > 0 || this.#isAhead);
    const isArrow = event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End';
    if (isArrow && !isChoosing && this.#picking.selectedSquares.length === 0) return;
    const square = this.#layout.squareForKey(this.#current, event.key);
    if (square !== undefined) {
      if (square !== null) this.#moveTo(square);
      this.focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      // A key that is held would play on every turn, and the first one where nobody saw it.
      if (!event.repeat && !isFirst) this.#choose(this.#current);
    } else if (event.key === 'Escape' && this.#picking.selectedSquares.length > 0) {
      this.#letGo();
    } else {
      return;
    }
    // Neither the page nor the list of moves takes these steps, too.
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Sets an attribute, if it is another: even to set the same costs the browser something. */
const tell = (element: Element, name: string, value: string) => {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
};
