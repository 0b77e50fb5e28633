// A board of squares and what stands on them, as positions are written: rank by rank from the
// highest, one character a square.

/** @import { Game } from '../protocol.js' */

/** An empty square. */
const EMPTY = '.';

export class Board {
  /** @type {string[][]} */
  #ranks;

  /**
   * @param {Pick<Game, 'files' | 'ranks' | 'sides'>} game
   * @param {string} position an empty text is an empty board
   */
  constructor(game, position) {
    this.files = game.files;
    this.ranks = game.ranks;
    this.sides = game.sides;
    this.#ranks = position.split('/').map((rank) => [...rank]);
  }

  /** @param {number} file @param {number} rank */
  name(file, rank) {
    return `${String.fromCharCode(97 + file)}${rank + 1}`;
  }

  /**
   * Where a square lies, counted from the lower left; `null` if the text names none.
   * @param {string} square
   * @returns {{ file: number, rank: number } | null}
   */
  place(square) {
    const parts = /^([a-z])([1-9]\d?)$/.exec(square);
    if (!parts?.[1]) return null;
    const file = parts[1].charCodeAt(0) - 97;
    const rank = Number(parts[2]) - 1;
    return file < this.files && rank < this.ranks ? { file, rank } : null;
  }

  /** @param {string} square */
  has(square) {
    return this.place(square) !== null;
  }

  /**
   * What stands there.
   * @param {string} square
   * @returns {string}
   */
  at(square) {
    const place = this.place(square);
    return (place && this.#ranks[this.ranks - 1 - place.rank]?.[place.file]) ?? EMPTY;
  }

  /** @param {string} square */
  isEmpty(square) {
    return this.at(square) === EMPTY;
  }

  /**
   * The seat whose piece this is: pieces are called by the first letter of their side.
   * @param {string} piece
   * @returns {number | null}
   */
  seatOf(piece) {
    const seat = this.sides.findIndex((side) => side[0] === piece);
    return seat < 0 ? null : seat;
  }

  /** @param {number} seat */
  pieceOf(seat) {
    return this.sides[seat]?.[0] ?? EMPTY;
  }

  /**
   * The board with one more piece on it.
   * @param {string} square
   * @param {string} piece
   */
  with(square, piece) {
    const place = this.place(square);
    const board = new Board(this, '');
    board.#ranks = this.#ranks.map((rank) => [...rank]);
    const rank = place && board.#ranks[this.ranks - 1 - place.rank];
    if (place && rank) rank[place.file] = piece;
    return board;
  }

  /** All squares, from the highest rank down, as one reads. */
  *squares() {
    for (let rank = this.ranks - 1; rank >= 0; rank--) {
      for (let file = 0; file < this.files; file++) yield this.name(file, rank);
    }
  }
}
