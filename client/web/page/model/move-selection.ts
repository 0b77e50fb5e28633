// Playing by picking up and putting down: which of the legal moves is meant by the squares that one
// has chosen one after the other. Knows moves by their squares only, and no rules.

/**
 * A legal move and the squares of its piece: where it stands, where it comes to on the way, where it
 * ends.
 */
export interface MoveOption {
  move: string;
  path: string[];
}

export class MoveSelection {
  #options;
  #origins;
  /** The squares chosen so far; the first is where the piece stands. */
  #way: string[] = [];

  constructor(options: MoveOption[]) {
    this.#options = options.filter(({ path }) => path.length > 1);
    this.#origins = new Set(this.#options.map(({ path }) => path[0] ?? ''));
  }

  get selectedSquares() {
    return this.#way;
  }

  /** The moves that can be chosen in this way. */
  moves() {
    return this.#options.map(({ move }) => move);
  }

  /** The squares from which something can be picked up. */
  origins() {
    return this.#origins;
  }

  /** Where what is picked up can be put next, or in the end. */
  targets(): Set<string> {
    const next = this.#fitting().flatMap(({ path }) => [path[this.#way.length], path.at(-1)]);
    const squares = next.filter((square) => square !== undefined);
    return new Set(squares.filter((square) => this.#next(square).length > 0));
  }

  clear() {
    this.#way = [];
  }

  /**
   * Chooses a square: picks up what stands there, or puts down there what is picked up, or lets it go.
   * @returns the moves that are meant when nothing is left to choose but between them
   */
  selectSquare(square: string): string[] {
    if (this.#way.length > 0 && square !== this.#way.at(-1)) {
      const next = this.#next(square);
      if (next.length === 1) return this.#done(next);
      if (next.length > 1) {
        this.#way = [...this.#way, square];
        const isAll = next.every(({ path }) => path.length === this.#way.length);
        return isAll ? this.#done(next) : [];
      }
    }
    const isPicked = square === this.#way[0];
    this.#way = !isPicked && this.origins().has(square) ? [square] : [];
    return [];
  }

  /** The moves that go on over this square, or otherwise those that end there. */
  #next(square: string) {
    const fitting = this.#fitting();
    const over = fitting.filter(({ path }) => path[this.#way.length] === square);
    const ends = fitting.filter(({ path }) => path.at(-1) === square);
    // Of several ways to one end, the squares between have to be chosen.
    return over.length > 0 ? over : ends.length === 1 ? ends : [];
  }

  #done(options: MoveOption[]) {
    this.#way = [];
    return options.map(({ move }) => move);
  }

  /** The moves that begin as what was chosen so far. */
  #fitting() {
    if (this.#way.length === 0) return [];
    return this.#options.filter(({ path }) => this.#way.every((square, at) => path[at] === square));
  }
}
