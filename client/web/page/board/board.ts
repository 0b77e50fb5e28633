// Interactive board: an SVG under a grid of cells for mouse, touch, keyboard and screen readers.

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

export interface BoardCallbacks {
  play: (move: string) => void;
  setPremove: (choice: string) => void;
  cancelPremove: () => void;
  say: (text: string) => void;
}

/** Minimum cell width that a finger hits reliably. */
const FINGER_PX = 24;

export class BoardView {
  element;
  #game;
  #conventions;
  #callbacks;
  #surface = h('div', { class: 'surface' });
  #layout;
  #svg;
  #annotations;
  #grid;
  #cells: Map<string, HTMLElement> = new Map();
  /** The moves that a click on a square plays. */
  #moveBySquare: Map<string, string> = new Map();
  #selection = new MoveSelection([]);
  /** Key of the moves that `#selection` was created from. */
  #selectionKey = '';
  /** The square of the only cell in the tab order. */
  #currentSquare = '';
  /** Whether arrow keys move over the board; otherwise they step through the move list. */
  #isKeyboardMode = false;
  #isTouch = false;
  /** Whether the focus ring is hidden until a key is pressed. */
  #isFocusHidden = false;
  /** The square under the mouse or the focus. */
  #hoverSquare: string | null = null;
  /** The cells with each class. */
  #cellsByClass: Map<string, Set<Element | undefined>> = new Map();
  /** Whether an update of the cells' labels is scheduled. */
  #isDescriptionDue = false;
  /** Closes the move dialog when the legal moves change. */
  #dialogAbort = new AbortController();
  /** Whether the user dropped the piece of the next move, so that it needs no animation. */
  #isDropped = false;
  #state: BoardState;

  constructor(game: Game, callbacks: BoardCallbacks) {
    this.#game = game;
    this.#callbacks = callbacks;
    this.#conventions = conventionsOf(game.game);
    const board = new Board(game, '');
    this.#state = {
      board,
      last: [],
      check: null,
      winningLine: [],
      legal: [],
      premoveOptions: [],
      premoveSquares: [],
      seat: null,
      isAnimated: false,
      isFlipped: false,
    };
    this.#layout = new Layout(game);
    this.#svg = new BoardSvg(game, this.#layout);
    this.#currentSquare = board.squareName(
      Math.floor((game.files - 1) / 2),
      Math.floor(game.ranks / 2),
    );
    this.#annotations = new Annotations(this.#layout);
    this.#grid = this.#makeGrid();
    this.element = h('div', { class: `board ${boardStyleOf(game)}` });
    this.element.style.setProperty('--files', String(game.files));
    this.element.style.setProperty('--ranks', String(game.ranks));
    this.#assemble();
  }

  show(state: BoardState) {
    if (state.isFlipped !== this.#state.isFlipped) this.#flip(state.isFlipped);
    this.#updateMoves(state);
    this.#state = { ...state, isAnimated: state.isAnimated && !this.#isDropped };
    this.#isDropped = false;
    this.#annotations.setPosition(state.board.position);
    this.#grid.classList.toggle('mine', state.legal.length > 0);
    this.#refresh();
  }

  /** Draws the best move of an analysis until the position changes. */
  showBestMove(move: string) {
    const { board } = this.#state;
    const [from, ...rest] = conventionsOf(this.#game.game).path(move, board);
    const to = rest.at(-1) ?? from ?? destinationOf(move, board);
    if (to !== null && to !== undefined) this.#annotations.showBestMove(from ?? to, to);
  }

  /** Updates the moves that the squares select. */
  #updateMoves({ board, legal, premoveOptions }: BoardState) {
    const { path } = this.#conventions;
    const options =
      legal.length > 0 ? legal.map((move) => ({ move, path: path(move, board) })) : premoveOptions;
    const key = [legal.join(' '), premoveOptions.length > 0 && board.position].join();
    const isSame = key === this.#selectionKey && options.length > 0;
    if (!isSame) {
      this.#dialogAbort.abort();
      // A selection for a premove stays when the user's turn begins.
      const [selected] = this.#isPremoving ? this.#selection.selectedSquares : [];
      this.#selection = new MoveSelection(options);
      if (selected !== undefined && this.#selection.origins().has(selected))
        this.#selection.selectSquare(selected);
    }
    this.#selectionKey = key;
    this.#moveBySquare.clear();
    for (const { move, path } of options) {
      const squares =
        legal.length > 0 ? clickSquaresOf(move, board) : path.length === 1 ? path : [];
      for (const square of squares) this.#moveBySquare.set(square, move);
    }
  }

  /** Whether the user chooses a premove instead of a move. */
  get #isPremoving() {
    return this.#state.legal.length === 0 && this.#state.premoveOptions.length > 0;
  }

  #play(move: string) {
    if (this.#isPremoving) this.#callbacks.setPremove(move);
    else this.#callbacks.play(move);
  }

  squareRects(squares: string[]) {
    return squares.flatMap((square) => this.#cells.get(square)?.getBoundingClientRect() ?? []);
  }

  movesWithoutSquare() {
    const selectable = new Set([...this.#moveBySquare.values(), ...this.#selection.moves()]);
    return this.#state.legal.filter((move) => !selectable.has(move));
  }

  focus(options?: FocusOptions) {
    this.#cells.get(this.#currentSquare)?.focus(options);
  }

  #assemble() {
    const { fileLabel, rankLabel } = this.#conventions;
    this.#svg.element.append(this.#annotations.element);
    this.#annotations.setLayout(this.#layout);
    this.#surface.replaceChildren(this.#svg.element, this.#grid);
    this.element.replaceChildren(
      coordinateLabels('ranks', this.#layout.ranks().map(rankLabel)),
      this.#surface,
      coordinateLabels('files', this.#layout.files().map(fileLabel)),
    );
  }

  #flip(isFlipped: boolean) {
    const hadFocus = this.#grid.contains(document.activeElement);
    this.#layout = new Layout(this.#game, isFlipped);
    this.#svg = new BoardSvg(this.#game, this.#layout);
    this.#grid = this.#makeGrid();
    this.#state = { ...this.#state, isAnimated: false };
    this.#assemble();
    if (hadFocus) this.focus();
  }

  #refresh() {
    const targets = this.#isPremoving ? [] : this.#selection.targets();
    this.#mark('legal', [...(this.#isPremoving ? [] : this.#moveBySquare.keys()), ...targets]);
    this.#mark('movable', this.#selection.origins());
    this.#draw();
    // Labels follow after the paint, except for the first ones: a focused cell needs a label.
    const isNamed = this.#cells.get(this.#currentSquare)?.hasAttribute('aria-label');
    if (isNamed && !this.#isDescriptionDue) afterNextPaint(() => this.#describe());
    this.#isDescriptionDue = isNamed === true;
    if (!isNamed) this.#describe();
  }

  #draw() {
    const { board, last, check, winningLine, legal, isAnimated, premoveSquares } = this.#state;
    const { showsLegalMoves, forcedMoveText } = this.#conventions;
    const { selectedSquares } = this.#selection;
    // The legal targets of a premove are not known yet.
    const targets = this.#isPremoving
      ? []
      : [...this.#selection.targets(), ...(showsLegalMoves ? this.#moveBySquare.keys() : [])];
    const isForced = selectedSquares.length === 0 && forcedMoveText(legal) !== '';
    const hover = {
      boardState: this.#state,
      selection: this.#selection,
      moveBySquare: this.#moveBySquare,
      hoverSquare: this.#hoverSquare ?? '',
    };
    const hoverSquares = previewSquares(hover);
    this.#svg.show({
      board,
      last,
      check,
      winningLine,
      hoverSquares,
      selectedSquares,
      targets,
      isAnimated,
      premoveSquares,
      forcedPieces: isForced ? [...this.#selection.origins()] : [],
      ghost: ghostPiece(hover),
    });
    this.#mark('aim', hoverSquares);
  }

  #mark(name: string, squares: Iterable<string>) {
    const cells = [...squares].map((square) => this.#cells.get(square));
    this.#cellsByClass.set(name, updateClass(name, this.#cellsByClass.get(name) ?? [], cells));
  }

  #setHoverSquare(square: string | null) {
    if (square === this.#hoverSquare) return;
    this.#hoverSquare = square;
    this.#draw();
  }

  /** Updates the cells' labels for screen readers. */
  #describe() {
    this.#isDescriptionDue = false;
    const { selectedSquares } = this.#selection;
    const { check } = this.#state;
    const isPremoving = this.#isPremoving;
    // Computed once for all squares, because a board may have hundreds of squares and moves.
    const targets = isPremoving ? new Set() : this.#selection.targets();
    const origins = this.#selection.origins();
    for (const [square, cell] of this.#cells) {
      const isTarget = targets.has(square);
      const context = { isChecked: square === check, isTarget, selectedSquares };
      const label = describeSquare(
        this.#state,
        square,
        this.#conventions.squareLabel(square),
        context,
      );
      const isEnabled =
        isPremoving || isTarget || this.#moveBySquare.has(square) || origins.has(square);
      setAttribute(cell, 'aria-label', label);
      setAttribute(cell, 'aria-disabled', String(!isEnabled));
    }
  }

  #makeGrid() {
    this.#cells.clear();
    const rows = this.#layout.rows.map((squares) =>
      h('div', { role: 'row' }, ...squares.map((square) => this.#makeCell(square))),
    );
    this.#setCurrentSquare(this.#currentSquare);
    const grid = h(
      'div',
      {
        class: 'cells',
        role: 'grid',
        'aria-label': translate('board.of', { game: this.#game.title }),
        onkeydown: (event: KeyboardEvent) => this.#onKeyDown(event),
        // The preview under the mouse stays.
        onfocusout: ({ target }: FocusEvent) => {
          if (squareOfTarget(target) === this.#hoverSquare) this.#setHoverSquare(null);
        },
        onpointerdown: ({ pointerType }: PointerEvent) => {
          this.#isTouch = pointerType === 'touch';
        },
        onpointerleave: ({ pointerType }: PointerEvent) => {
          if (pointerType === 'mouse') this.#setHoverSquare(null);
        },
      },
      ...rows,
    );
    enableDragging(grid, {
      canDrag: (square) => this.#selection.origins().has(square),
      onDragStart: (square) => this.#startDrag(square),
      onDragMove: (square, { xFraction, yFraction, overSquare, isTouch }) => {
        const { files, ranks } = this.#game;
        const [x, y] = [xFraction * files * 100, yFraction * ranks * 100];
        this.#svg.dragPiece(square, { x, y, lifted: isTouch });
        this.#setHoverSquare(overSquare);
      },
      onDrop: (from, to) => this.#drop(from, to),
    });
    this.#annotations.attachTo(grid);
    return grid;
  }

  #makeCell(square: string) {
    const cell = h('div', {
      role: 'gridcell',
      tabindex: -1,
      'data-square': square,
      onclick: () => {
        this.#isKeyboardMode = false;
        this.#isFocusHidden = false;
        this.#setCurrentSquare(square);
        // If a finger covers several squares, the first tap previews the move.
        const isImprecise =
          this.#isTouch && cell.clientWidth < FINGER_PX && this.#moveBySquare.has(square);
        if (isImprecise && this.#hoverSquare !== square) this.#setHoverSquare(square);
        else this.#onSquareChosen(square);
      },
      onfocus: () => {
        this.#setCurrentSquare(square);
        // A touch also sets the focus, but must not leave a preview.
        if (!cell.matches(':focus-visible')) return;
        this.#isFocusHidden = isTouchMode();
        if (!this.#isFocusHidden) this.#enterKeyboardMode(square);
      },
      onpointerenter: (event: PointerEvent) => {
        if (event.pointerType === 'mouse') this.#setHoverSquare(square);
      },
    });
    this.#cells.set(square, cell);
    return cell;
  }

  #onSquareChosen(square: string) {
    const { premoveSquares } = this.#state;
    if (this.#selection.selectedSquares.length === 0 && premoveSquares.includes(square)) {
      this.#callbacks.cancelPremove();
      return;
    }
    const move = this.#moveBySquare.get(square);
    if (move !== undefined) this.#play(move);
    else this.#selectSquare(square);
  }

  #selectSquare(square: string) {
    const hadSelection = this.#selection.selectedSquares.length > 0;
    const moves = this.#selection.selectSquare(square);
    const { selectedSquares } = this.#selection;
    const state = this.#state;
    if (moves.length > 0) void this.#playOneOf(moves);
    // A played move has already updated the board.
    if (this.#state === state) this.#refresh();
    if (moves.length > 0) return;
    if (selectedSquares.length > 0) this.#callbacks.say(this.#selectionText());
    else if (hadSelection) this.#callbacks.say(translate('board.back'));
  }

  #selectionText() {
    const { board } = this.#state;
    const { squareLabel } = this.#conventions;
    const [from = ''] = this.#selection.selectedSquares;
    const targets = this.#isPremoving ? [] : [...this.#selection.targets()].map(squareLabel);
    return describeSelection(squareLabel(from), board.pieceName(board.pieceAt(from)), targets);
  }

  /** Plays the move; with several moves, the user chooses one in a dialog. */
  async #playOneOf(moves: string[]) {
    const [only = ''] = moves;
    if (moves.length === 1) {
      this.#play(only);
      return;
    }
    this.#isDropped = false;
    const { board } = this.#state;
    this.#dialogAbort = new AbortController();
    const { signal } = this.#dialogAbort;
    const move = await chooseMove(this.#conventions.moveChoices(moves, board), board, signal);
    if (move !== null) this.#play(move);
  }

  #startDrag(square: string) {
    if (this.#selection.selectedSquares.join() === square) return;
    this.#selection.clear();
    this.#selectSquare(square);
  }

  #drop(from: string, to: string | null) {
    this.#svg.dragPiece(from, null);
    if (this.#isTouch) this.#hoverSquare = null;
    // A drop on the origin is a click, which the cell handles.
    if (to === from) return;
    if (to !== null && this.#selection.targets().has(to)) {
      this.#isDropped = !this.#isPremoving;
      // The keyboard continues from the drop square, as after a click.
      this.#setCurrentSquare(to);
      if (this.#cells.get(from)?.matches(':focus')) this.focus();
      this.#selectSquare(to);
    } else {
      this.#clearSelection();
    }
  }

  #clearSelection() {
    this.#selection.clear();
    this.#refresh();
    this.#callbacks.say(translate('board.back'));
  }

  #setCurrentSquare(square: string) {
    this.#cells.get(this.#currentSquare)?.setAttribute('tabindex', '-1');
    this.#currentSquare = square;
    this.#cells.get(square)?.setAttribute('tabindex', '0');
  }

  #enterKeyboardMode(square: string) {
    this.#isKeyboardMode = true;
    this.#setHoverSquare(square);
  }

  #onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const wasHidden = this.#isFocusHidden;
    this.#isFocusHidden = false;
    if (wasHidden) this.#enterKeyboardMode(this.#currentSquare);
    // The match page handles keys that play a move.
    if (moveForKeyEvent(this.#game.game, event) !== null) return;
    // Otherwise arrow keys step through the move list.
    const isChoosing = this.#isKeyboardMode && (this.#state.legal.length > 0 || this.#isPremoving);
    const isArrow = event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End';
    if (isArrow && !isChoosing && this.#selection.selectedSquares.length === 0) return;
    const square = this.#layout.squareForKey(this.#currentSquare, event.key);
    if (square !== undefined) {
      if (square !== null) this.#setCurrentSquare(square);
      this.focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      // A held key must not play on every turn, nor the first key on a hidden focus.
      if (!event.repeat && !wasHidden) this.#onSquareChosen(this.#currentSquare);
    } else if (event.key === 'Escape' && this.#selection.selectedSquares.length > 0) {
      this.#clearSelection();
    } else {
      return;
    }
    // The page and the move list must not handle the key again.
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Sets an attribute only if it changes, because setting the same value is not free. */
const setAttribute = (element: Element, name: string, value: string) => {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
};
