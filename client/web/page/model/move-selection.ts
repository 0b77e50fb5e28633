// Determines which legal move the user means by a sequence of selected squares. It knows no rules
// of
// the games, only the squares of the moves.

/** A legal move and the squares that its piece visits, from its origin to its destination. */
export interface MoveOption {
  move: string;
  path: string[];
}

export class MoveSelection {
  #options;
  #origins;
  /** The first square is the origin of the piece. */
  #selected: string[] = [];

  constructor(options: MoveOption[]) {
    this.#options = options.filter(({ path }) => path.length > 1);
    this.#origins = new Set(this.#options.map(({ path }) => path[0] ?? ''));
  }

  get selectedSquares() {
    return this.#selected;
  }

  moves() {
    return this.#options.map(({ move }) => move);
  }

  origins() {
    return this.#origins;
  }

  /** Returns the squares where the selected piece can move next, or end. */
  targets() {
    const next = this.#matchingOptions().flatMap(({ path }) => [
      path[this.#selected.length],
      path.at(-1),
    ]);
    const squares = next.filter((square) => square !== undefined);
    return new Set(squares.filter((square) => this.#optionsOver(square).length > 0));
  }

  clear() {
    this.#selected = [];
  }

  /**
   * Selects the piece on a square, moves the selected piece there, or clears the selection.
   * @returns the moves over the selected squares if these are complete; else none
   */
  selectSquare(square: string): string[] {
    if (this.#selected.length > 0 && square !== this.#selected.at(-1)) {
      const next = this.#optionsOver(square);
      if (next.length === 1) return this.#finish(next);
      if (next.length > 1) {
        this.#selected = [...this.#selected, square];
        const isAll = next.every(({ path }) => path.length === this.#selected.length);
        return isAll ? this.#finish(next) : [];
      }
    }
    const isOrigin = square === this.#selected[0];
    this.#selected = !isOrigin && this.origins().has(square) ? [square] : [];
    return [];
  }

  /** Returns the options that continue over a square, or the only option that ends there. */
  #optionsOver(square: string) {
    const matching = this.#matchingOptions();
    const over = matching.filter(({ path }) => path[this.#selected.length] === square);
    const ends = matching.filter(({ path }) => path.at(-1) === square);
    // Several paths to the same destination need the squares between.
    return over.length > 0 ? over : ends.length === 1 ? ends : [];
  }

  #finish(options: MoveOption[]) {
    this.#selected = [];
    return options.map(({ move }) => move);
  }

  /** Returns the options whose paths begin with the selected squares. */
  #matchingOptions() {
    if (this.#selected.length === 0) return [];
    return this.#options.filter(({ path }) =>
      this.#selected.every((square, index) => path[index] === square),
    );
  }
}
