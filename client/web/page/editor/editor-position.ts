// A position that somebody sets up: what stands where, and whose turn it is. Every change gives another.

import { EMPTY } from '../model/fen.ts';
import { Board } from '../model/position.ts';
import { notationOf } from './notation/notations.ts';

import type { Game } from '../net/protocol.ts';

/** What stands on the squares that are not empty. */
export type PiecesBySquare = ReadonlyMap<string, string>;

/** What a text tells. `more` is what its game keeps beside board and turn, as its notation knows it. */
export interface ParsedPosition {
  squares: PiecesBySquare;
  /** the seat */
  turn: number;
  extraFields?: unknown;
  /** so many moves that the text tells, too, are not played */
  moveCount?: number;
}

export class EditorPosition {
  #game;
  #notation;
  squares;
  turn;
  extraFields;

  constructor(game: Game, { squares, turn, extraFields: more }: ParsedPosition) {
    this.#game = game;
    this.#notation = notationOf(game.game);
    this.squares = squares;
    this.turn = this.#notation.turnOf?.(squares) ?? turn;
    this.extraFields = more;
  }

  /** The first position of the game. */
  static initial(game: Game) {
    return new EditorPosition(
      game,
      notationOf(game.game).read(notationOf(game.game).initialPosition(game), game),
    );
  }

  static empty(game: Game) {
    return new EditorPosition(game, { squares: new Map(), turn: 0 });
  }

  /** What the position is called in a match. */
  get text() {
    return this.#notation.write(this, this.#game);
  }

  /** The position for people: as other programs for this game write it. */
  get standardText() {
    return this.#notation.writeStandard?.(this, this.#game) ?? this.text;
  }

  get board() {
    return new Board(this.#game, this.text);
  }

  /** Why play cannot begin with it, as far as a glance shows; `null` if nothing is in the way. */
  get error() {
    return this.#notation.validate?.(this, this.#game) ?? null;
  }

  /** Whether whoever is to move follows from what stands on the board. */
  get isTurnImplied() {
    return this.#notation.turnOf !== undefined;
  }

  at(square: string) {
    return this.squares.get(square) ?? EMPTY;
  }

  /** Puts a piece there, or takes away what stands there. */
  put(square: string, piece: string) {
    const { placePiece: place } = this.#notation;
    const put = place ? place(this.squares, square, piece, this.#game) : { square, piece };
    if (put === null) return this;
    const squares = new Map(this.squares);
    if (put.piece === EMPTY) squares.delete(put.square);
    else squares.set(put.square, put.piece);
    return this.#changed(squares, this.turn, this.extraFields);
  }

  move(from: string, to: string) {
    const piece = this.at(from);
    return piece === EMPTY || from === to ? this : this.put(from, EMPTY).put(to, piece);
  }

  withTurn(turn: number) {
    return this.#changed(this.squares, turn, this.extraFields);
  }

  /** With what the game keeps beside board and turn. */
  withExtraFields(more: unknown) {
    return new EditorPosition(this.#game, {
      squares: this.squares,
      turn: this.turn,
      extraFields: more,
    });
  }

  /** In which ways the board can be changed as a whole. */
  get transformations() {
    return this.#notation.transformations;
  }

  /** Mirrored, or with the sides swapped. */
  transform(way: 'mirror' | 'upside' | 'swap') {
    const { files, ranks } = this.#game;
    const board = new Board(this.#game, '');
    const { swapSide: swaps = (piece: string) => piece, flipsOnSwap: swapTurns = [] } =
      this.#notation;
    const isSwap = way === 'swap';
    const across = way === 'mirror' || (isSwap && swapTurns.includes('across'));
    const over = way === 'upside' || (isSwap && swapTurns.includes('over'));
    const squares = [...this.squares].flatMap(([square, piece]) => {
      const place = board.coordinatesOf(square);
      if (!place) return [];
      const file = across ? files - 1 - place.file : place.file;
      const rank = over ? ranks - 1 - place.rank : place.rank;
      return [[board.squareName(file, rank), isSwap ? swaps(piece) : piece] as const];
    });
    return this.#changed(new Map(squares), isSwap ? 1 - this.turn : this.turn, this.extraFields);
  }

  /** What has been counted before holds no more. */
  #changed(squares: PiecesBySquare, turn: number, more: unknown) {
    const kept = this.#notation.updateExtraFields?.(squares, more);
    return new EditorPosition(this.#game, { squares, turn, extraFields: kept });
  }
}
