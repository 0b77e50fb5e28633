// Game-independent board: squares named by file and rank, each with one piece character.

import { EMPTY } from './fen.ts';
import { conventionsOf } from './game-conventions.ts';
import { tryTranslate } from '../text/language.ts';

import type { Game } from '../net/protocol.ts';

export class Board {
  readonly game: string;
  readonly files: number;
  readonly ranks: number;
  readonly sides: [string, string];
  /** The position in the server's notation. */
  position: string;
  #ranks: string[][];

  /** @param position an empty string stands for an empty board */
  constructor(game: Pick<Game, 'game' | 'files' | 'ranks' | 'sides'>, position: string) {
    this.game = game.game;
    this.files = game.files;
    this.ranks = game.ranks;
    this.sides = game.sides;
    this.position = position;
    this.#ranks = position === '' ? [] : conventionsOf(game.game).readRanks(position);
  }

  squareName(file: number, rank: number) {
    return `${String.fromCharCode(97 + file)}${rank + 1}`;
  }

  /** Returns zero-based coordinates from the lower left, or `null` for an unknown square. */
  coordinatesOf(square: string): { file: number; rank: number } | null {
    const parts = /^([a-z])([1-9]\d?)$/.exec(square);
    if (!parts?.[1]) return null;
    const file = parts[1].charCodeAt(0) - 97;
    const rank = Number(parts[2]) - 1;
    return file < this.files && rank < this.ranks ? { file, rank } : null;
  }

  has(square: string) {
    return this.coordinatesOf(square) !== null;
  }

  pieceAt(square: string): string {
    const coordinates = this.coordinatesOf(square);
    return (
      (coordinates && this.#ranks[this.ranks - 1 - coordinates.rank]?.[coordinates.file]) ?? EMPTY
    );
  }

  isEmpty(square: string) {
    return this.pieceAt(square) === EMPTY;
  }

  /**
   * Returns the seat of a piece, or `null`. By default, a piece is the first letter of its side.
   */
  seatOf(piece: string): number | null {
    if (piece === EMPTY) return null;
    const seat =
      conventionsOf(this.game).seatOf?.(piece) ?? this.sides.findIndex((side) => side[0] === piece);
    return seat < 0 ? null : seat;
  }

  pieceOf(seat: number) {
    return conventionsOf(this.game).pieceOf?.(seat) ?? this.sides[seat]?.[0] ?? EMPTY;
  }

  pieceName(piece: string) {
    const seat = this.seatOf(piece);
    if (seat === null) return piece;
    return (
      conventionsOf(this.game).pieceName?.(piece) ??
      tryTranslate(`piece.${this.sides[seat]}`) ??
      piece
    );
  }

  /**
   * Returns a copy of the board with changed squares.
   * @param changes the new piece by square
   */
  withPieces(changes: Record<string, string>) {
    const board = new Board(this, '');
    board.position = this.position;
    board.#ranks = this.#ranks.map((rank) => [...rank]);
    for (const [square, piece] of Object.entries(changes)) {
      const coordinates = this.coordinatesOf(square);
      const rank = coordinates && board.#ranks[this.ranks - 1 - coordinates.rank];
      if (coordinates && rank) rank[coordinates.file] = piece;
    }
    return board;
  }

  countPieces() {
    const counts = new Map<string, number>();
    for (const square of this.squares()) {
      const piece = this.pieceAt(square);
      if (piece !== EMPTY) counts.set(piece, (counts.get(piece) ?? 0) + 1);
    }
    return counts;
  }

  /** Iterates over all squares from the highest rank down. */
  *squares() {
    for (let rank = this.ranks - 1; rank >= 0; rank--) {
      for (let file = 0; file < this.files; file++) yield this.squareName(file, rank);
    }
  }
}
