// Maps squares to their places on the screen, depending on the game and the orientation.

import { conventionsOf } from '../model/game-conventions.ts';
import { Board } from '../model/position.ts';

import type { Game } from '../net/protocol.ts';

export class Layout {
  /** The squares row by row, from the upper left. */
  rows: string[][];
  #board;
  #isFlipped;
  #hasHighestRankOnTop;

  constructor(game: Game, isFlipped = false) {
    this.#board = new Board(game, '');
    this.#isFlipped = isFlipped;
    this.#hasHighestRankOnTop = Boolean(conventionsOf(game.game).isFirstRankOnTop) === isFlipped;
    const { files, ranks } = game;
    this.rows = Array.from({ length: ranks }, (_, row) =>
      Array.from({ length: files }, (_, column) =>
        this.#board.squareName(
          isFlipped ? files - 1 - column : column,
          this.#hasHighestRankOnTop ? ranks - 1 - row : row,
        ),
      ),
    );
  }

  /** Returns the centre of a square; a square is 100 units wide. */
  center(square: string) {
    const { file, rank } = this.#board.coordinatesOf(square) ?? { file: 0, rank: 0 };
    const { files, ranks } = this.#board;
    const column = this.#isFlipped ? files - 1 - file : file;
    const row = this.#hasHighestRankOnTop ? ranks - 1 - rank : rank;
    return { x: column * 100 + 50, y: row * 100 + 50 };
  }

  /** Returns the square at an offset in columns and rows, or `null` beyond the edge. */
  squareAtOffset(square: string, right: number, down: number) {
    const { x, y } = this.center(square);
    return this.rows[(y - 50) / 100 + down]?.[(x - 50) / 100 + right] ?? null;
  }

  /** Returns the target of a navigation key: `null` beyond the edge, `undefined` for other keys. */
  squareForKey(square: string, key: string) {
    const row = this.rows.find((squares) => squares.includes(square)) ?? [];
    const steps: Record<string, () => string | null> = {
      ArrowLeft: () => this.squareAtOffset(square, -1, 0),
      ArrowRight: () => this.squareAtOffset(square, 1, 0),
      ArrowUp: () => this.squareAtOffset(square, 0, -1),
      ArrowDown: () => this.squareAtOffset(square, 0, 1),
      Home: () => row[0] ?? null,
      End: () => row.at(-1) ?? null,
    };
    return steps[key]?.();
  }

  /** The files from left to right. */
  files() {
    return this.#indices(this.#board.files, this.#isFlipped);
  }

  /** The ranks from the top down. */
  ranks() {
    return this.#indices(this.#board.ranks, this.#hasHighestRankOnTop);
  }

  #indices(count: number, isDescending: boolean) {
    return Array.from({ length: count }, (_, index) => (isDescending ? count - 1 - index : index));
  }
}
