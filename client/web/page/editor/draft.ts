// A position that somebody sets up: what stands where, and whose turn it is. Every change gives another.

import { EMPTY } from '../model/fen.ts';
import { Board } from '../model/position.ts';
import { notationOf } from './notation/notations.ts';

import type { Game } from '../net/protocol.ts';

/** What stands on the squares that are not empty. */
export type Squares = ReadonlyMap<string, string>;

/** What a text tells. `more` is what its game keeps beside board and turn, as its notation knows it. */
export interface Told {
  squares: Squares;
  /** the seat */
  turn: number;
  more?: unknown;
  /** so many moves that the text tells, too, are not played */
  moves?: number;
}

export class Draft {
  #game;
  #notation;
  squares;
  turn;
  more;

  constructor(game: Game, { squares, turn, more }: Told) {
    this.#game = game;
    this.#notation = notationOf(game.game);
    this.squares = squares;
    this.turn = this.#notation.turnOf?.(squares) ?? turn;
    this.more = more;
  }

  /** The first position of the game. */
  static first(game: Game) {
    return new Draft(game, notationOf(game.game).read(notationOf(game.game).first(game), game));
  }

  static empty(game: Game) {
    return new Draft(game, { squares: new Map(), turn: 0 });
  }

  /** What the position is called in a match. */
  get text() {
    return this.#notation.write(this, this.#game);
  }

  /** The position for people: as other programs for this game write it. */
  get shown() {
    return this.#notation.show?.(this, this.#game) ?? this.text;
  }

  get board() {
    return new Board(this.#game, this.text);
  }

  /** Why play cannot begin with it, as far as a glance shows; `null` if nothing is in the way. */
  get wrong() {
    return this.#notation.wrong?.(this, this.#game) ?? null;
  }

  /** Whether whoever is to move follows from what stands on the board. */
  get turnFollows() {
    return this.#notation.turnOf !== undefined;
  }

  at(square: string) {
    return this.squares.get(square) ?? EMPTY;
  }

  /** Puts a piece there, or takes away what stands there. */
  put(square: string, piece: string) {
    const { place } = this.#notation;
    const put = place ? place(this.squares, square, piece, this.#game) : { square, piece };
    if (put === null) return this;
    const squares = new Map(this.squares);
    if (put.piece === EMPTY) squares.delete(put.square);
    else squares.set(put.square, put.piece);
    return this.#changed(squares, this.turn, this.more);
  }

  move(from: string, to: string) {
    const piece = this.at(from);
    return piece === EMPTY || from === to ? this : this.put(from, EMPTY).put(to, piece);
  }

  withTurn(turn: number) {
    return this.#changed(this.squares, turn, this.more);
  }

  /** With what the game keeps beside board and turn. */
  withMore(more: unknown) {
    return new Draft(this.#game, { squares: this.squares, turn: this.turn, more });
  }

  /** In which ways the board can be changed as a whole. */
  get ways() {
    return this.#notation.ways;
  }

  /** Mirrored, or with the sides swapped. */
  turned(way: 'mirror' | 'upside' | 'swap') {
    const { files, ranks } = this.#game;
    const board = new Board(this.#game, '');
    const { swaps = (piece: string) => piece, swapTurns = [] } = this.#notation;
    const isSwap = way === 'swap';
    const across = way === 'mirror' || (isSwap && swapTurns.includes('across'));
    const over = way === 'upside' || (isSwap && swapTurns.includes('over'));
    const squares = [...this.squares].flatMap(([square, piece]) => {
      const place = board.place(square);
      if (!place) return [];
      const file = across ? files - 1 - place.file : place.file;
      const rank = over ? ranks - 1 - place.rank : place.rank;
      return [[board.name(file, rank), isSwap ? swaps(piece) : piece] as const];
    });
    return this.#changed(new Map(squares), isSwap ? 1 - this.turn : this.turn, this.more);
  }

  /** What has been counted before holds no more. */
  #changed(squares: Squares, turn: number, more: unknown) {
    const kept = this.#notation.kept?.(squares, more);
    return new Draft(this.#game, { squares, turn, more: kept });
  }
}
