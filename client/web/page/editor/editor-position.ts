// An immutable position in the editor: the pieces, the side to move and other data of its game.

import { EMPTY } from '../model/fen.ts';
import { Board } from '../model/position.ts';
import { notationOf } from './notation/notations.ts';

import type { Game } from '../net/protocol.ts';

/** The piece letters on the squares that are not empty. */
export type PiecesBySquare = ReadonlyMap<string, string>;

/** A position read from a text. Only the notation of the game knows the form of `extraFields`. */
export interface ParsedPosition {
  squares: PiecesBySquare;
  /** seat to move */
  turn: number;
  extraFields?: unknown;
  /** number of moves in the text, which the editor does not play */
  moveCount?: number;
}

export class EditorPosition {
  #game;
  #notation;
  squares;
  turn;
  extraFields;

  constructor(game: Game, { squares, turn, extraFields }: ParsedPosition) {
    this.#game = game;
    this.#notation = notationOf(game.game);
    this.squares = squares;
    this.turn = this.#notation.turnOf?.(squares) ?? turn;
    this.extraFields = extraFields;
  }

  static initial(game: Game) {
    const notation = notationOf(game.game);
    return new EditorPosition(game, notation.read(notation.initialPosition(game), game));
  }

  static empty(game: Game) {
    return new EditorPosition(game, { squares: new Map(), turn: 0 });
  }

  /** The position in the server's notation. */
  get text() {
    return this.#notation.write(this, this.#game);
  }

  /** The position in the notation of other programs for this game. */
  get standardText() {
    return this.#notation.writeStandard?.(this, this.#game) ?? this.text;
  }

  get board() {
    return new Board(this.#game, this.text);
  }

  /** Why play cannot begin. `null` is no guarantee, because only the server knows all rules. */
  get error() {
    return this.#notation.validate?.(this, this.#game) ?? null;
  }

  /** Whether the pieces determine the side to move. */
  get isTurnImplied() {
    return this.#notation.turnOf !== undefined;
  }

  at(square: string) {
    return this.squares.get(square) ?? EMPTY;
  }

  /** Places a piece; `EMPTY` removes the piece on the square. */
  put(square: string, piece: string) {
    const { placePiece } = this.#notation;
    const change = placePiece
      ? placePiece(this.squares, square, piece, this.#game)
      : { square, piece };
    if (change === null) return this;
    const squares = new Map(this.squares);
    if (change.piece === EMPTY) squares.delete(change.square);
    else squares.set(change.square, change.piece);
    return this.#withChange(squares, this.turn, this.extraFields);
  }

  move(from: string, to: string) {
    const piece = this.at(from);
    return piece === EMPTY || from === to ? this : this.put(from, EMPTY).put(to, piece);
  }

  withTurn(turn: number) {
    return this.#withChange(this.squares, turn, this.extraFields);
  }

  withExtraFields(extraFields: unknown) {
    const { squares, turn } = this;
    return new EditorPosition(this.#game, { squares, turn, extraFields });
  }

  get transformations() {
    return this.#notation.transformations;
  }

  transform(kind: 'mirror' | 'upside' | 'swap') {
    const { files, ranks } = this.#game;
    const board = new Board(this.#game, '');
    const { swapSide = (piece: string) => piece, flipsOnSwap = [] } = this.#notation;
    const isSwap = kind === 'swap';
    const mirrorsFiles = kind === 'mirror' || (isSwap && flipsOnSwap.includes('across'));
    const mirrorsRanks = kind === 'upside' || (isSwap && flipsOnSwap.includes('over'));
    const squares = [...this.squares].flatMap(([square, piece]) => {
      const coordinates = board.coordinatesOf(square);
      if (!coordinates) return [];
      const file = mirrorsFiles ? files - 1 - coordinates.file : coordinates.file;
      const rank = mirrorsRanks ? ranks - 1 - coordinates.rank : coordinates.rank;
      return [[board.squareName(file, rank), isSwap ? swapSide(piece) : piece] as const];
    });
    return this.#withChange(new Map(squares), isSwap ? 1 - this.turn : this.turn, this.extraFields);
  }

  /** Creates a changed position and resets the move counters. */
  #withChange(squares: PiecesBySquare, turn: number, oldFields: unknown) {
    const extraFields = this.#notation.updateExtraFields?.(squares, oldFields);
    return new EditorPosition(this.#game, { squares, turn, extraFields });
  }
}
