// A board of squares and what stands on them. How a position is written is its game's affair; here
// every square has a name by file and rank, and holds one character.

import { EMPTY } from './fen.ts';
import { conventionsOf } from './game-conventions.ts';
import { tryTranslate } from '../text/language.ts';

import type { Game } from '../net/protocol.ts';

export class Board {
  readonly game: string;
  readonly files: number;
  readonly ranks: number;
  readonly sides: [string, string];
  /** In the server's notation. */
  position: string;
  #ranks: string[][];

  /** @param position an empty text is an empty board */
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

  /** Where a square lies, counted from the lower left; `null` if the text names none. */
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

  /** What stands there. */
  pieceAt(square: string): string {
    const place = this.coordinatesOf(square);
    return (place && this.#ranks[this.ranks - 1 - place.rank]?.[place.file]) ?? EMPTY;
  }

  isEmpty(square: string) {
    return this.pieceAt(square) === EMPTY;
  }

  /**
   * The seat whose piece this is: if the game says nothing else, pieces are called by the first
   * letter of their side.
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

  /** A piece by its name. */
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
   * The board with these squares changed.
   * @param changes what stands on each afterwards
   */
  withPieces(changes: Record<string, string>) {
    const board = new Board(this, '');
    board.position = this.position;
    board.#ranks = this.#ranks.map((rank) => [...rank]);
    for (const [square, piece] of Object.entries(changes)) {
      const place = this.coordinatesOf(square);
      const rank = place && board.#ranks[this.ranks - 1 - place.rank];
      if (place && rank) rank[place.file] = piece;
    }
    return board;
  }

  /** How many there are of each piece. */
  countPieces(): Map<string, number> {
    const counts = new Map();
    for (const square of this.squares()) {
      const piece = this.pieceAt(square);
      if (piece !== EMPTY) counts.set(piece, (counts.get(piece) ?? 0) + 1);
    }
    return counts;
  }

  /** All squares, from the highest rank down, as one reads. */
  *squares() {
    for (let rank = this.ranks - 1; rank >= 0; rank--) {
      for (let file = 0; file < this.files; file++) yield this.squareName(file, rank);
    }
  }
}
