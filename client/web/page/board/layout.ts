// Where on the board a square is to be seen. Its ranks rise from below, unless the game or whoever
// looks has it otherwise.

import { conventionsOf } from '../model/game-conventions.ts';
import { Board } from '../model/position.ts';

import type { Game } from '../net/protocol.ts';

export class Layout {
  rows: string[][];
  #board;
  #turned;
  #rises;

  /** @param turned whether it is seen from the other side */
  constructor(game: Game, turned: boolean = false) {
    this.#board = new Board(game, '');
    this.#turned = turned;
    this.#rises = Boolean(conventionsOf(game.game).isFirstRankOnTop) === turned;
    const { files, ranks } = game;
    /** The squares as one reads, row by row. */
    this.rows = Array.from({ length: ranks }, (_, row) =>
      Array.from({ length: files }, (_, column) =>
        this.#board.squareName(
          turned ? files - 1 - column : column,
          this.#rises ? ranks - 1 - row : row,
        ),
      ),
    );
  }

  /** The middle of a square; one hundred units are a square. */
  center(square: string) {
    const { file, rank } = this.#board.coordinatesOf(square) ?? { file: 0, rank: 0 };
    const { files, ranks } = this.#board;
    const column = this.#turned ? files - 1 - file : file;
    const row = this.#rises ? ranks - 1 - rank : rank;
    return { x: column * 100 + 50, y: row * 100 + 50 };
  }

  /** The square so many columns to the right and so many rows below; `null` beyond the edge. */
  squareAtOffset(square: string, right: number, down: number) {
    const { x, y } = this.center(square);
    return this.rows[(y - 50) / 100 + down]?.[(x - 50) / 100 + right] ?? null;
  }

  /** The square to which a key leads, `null` where the board ends; nothing for any other key. */
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
    return this.#numbers(this.#board.files, this.#turned);
  }

  /** The ranks from the top down. */
  ranks() {
    return this.#numbers(this.#board.ranks, this.#rises);
  }

  #numbers(count: number, falling: boolean) {
    return Array.from({ length: count }, (_, at) => (falling ? count - 1 - at : at));
  }
}
