// The board as a picture: what lies under the pieces, the pieces, and what lies over them. One unit
// is a hundredth of a square.

import { s } from './dom.js';
import { customsOf } from './games.js';
import { drawPiece } from './piece.js';
import { Board } from './position.js';

/** @import { Game } from '../protocol.js' */

/**
 * What is to be seen.
 * @typedef {object} Scene
 * @property {Board} board
 * @property {string[]} [last] the squares of the last move
 * @property {string[]} [line] the winning line
 * @property {string[]} [aim] the squares of the move that is about to be chosen
 * @property {{ square: string, piece: string } | null} [ghost] a piece that could come to stand there
 * @property {boolean} [moving] whether new pieces arrive before one's eyes
 */

export class Picture {
  element;
  #game;
  #under;
  #pieces = s('g', {});
  #over = s('g', {});
  /** @type {Map<string, { piece: string, element: SVGElement }>} */
  #standing = new Map();
  /** @type {SVGElement | null} */
  #ghost = null;

  /** @param {Game} game */
  constructor(game) {
    this.#game = game;
    const { look = 'tiles' } = customsOf(game.game);
    const size = `0 0 ${game.files * 100} ${game.ranks * 100}`;
    const plate = look === 'plate' ? s('path', { class: 'plate', d: plateWithHoles(game) }) : null;
    this.#under = s('g', {}, ...(plate ? [depth(game)] : tiles(game)));
    this.element = s(
      'svg',
      { class: `picture ${look}`, viewBox: size, 'aria-hidden': 'true' },
      this.#under,
      this.#pieces,
      plate,
      this.#over,
    );
  }

  /** @param {Scene} scene */
  show({ board, last = [], line = [], aim = [], ghost = null, moving = false }) {
    for (const square of board.squares()) this.#stand(board, square, moving);
    for (const [square, { element }] of this.#standing) {
      element.classList.toggle('dim', line.length > 0 && !line.includes(square));
    }
    for (const tile of this.#under.children) {
      const square = tile.getAttribute('data-square') ?? '';
      tile.classList.toggle('last', last.includes(square));
      tile.classList.toggle('line', line.includes(square));
      tile.classList.toggle('aim', aim.includes(square));
    }
    const marks = [
      ...last.map((square) => this.#at(board, square, s('circle', { class: 'mark-last', r: 46 }))),
      ...line.map((square) => this.#at(board, square, s('circle', { class: 'mark-line', r: 44 }))),
    ];
    this.#over.replaceChildren(...marks);
    this.#ghost?.remove();
    this.#ghost = null;
    if (ghost) {
      const drawn = drawPiece(this.#game.game, board, ghost.piece);
      this.#ghost = this.#at(board, ghost.square, drawn);
      this.#ghost.classList.add('ghost');
      this.#pieces.append(this.#ghost);
    }
  }

  /**
   * @param {Board} board
   * @param {string} square
   * @param {boolean} moving
   */
  #stand(board, square, moving) {
    const piece = board.isEmpty(square) ? '' : board.at(square);
    const before = this.#standing.get(square);
    if ((before?.piece ?? '') === piece) return;
    before?.element.remove();
    this.#standing.delete(square);
    if (!piece) return;
    const drawn = drawPiece(this.#game.game, board, piece);
    if (moving) {
      const above = board.ranks - (board.place(square)?.rank ?? 0);
      const falls = customsOf(this.#game.game).falls;
      drawn.classList.add(falls ? 'falls' : 'arrives');
      drawn.style.setProperty('--squares', String(above));
    }
    const element = this.#at(board, square, drawn);
    this.#pieces.append(element);
    this.#standing.set(square, { piece, element });
  }

  /**
   * @param {Board} board
   * @param {string} square
   * @param {SVGElement} drawn
   */
  #at(board, square, drawn) {
    const { file, rank } = board.place(square) ?? { file: 0, rank: 0 };
    const x = file * 100 + 50;
    const y = (board.ranks - 1 - rank) * 100 + 50;
    return s('g', { transform: `translate(${x} ${y})` }, drawn);
  }
}

/** @param {Game} game */
function tiles(game) {
  const board = new Board(game, '');
  return [...board.squares()].map((square) => {
    const { file, rank } = board.place(square) ?? { file: 0, rank: 0 };
    const [x, y] = [file * 100 + 4, (game.ranks - 1 - rank) * 100 + 4];
    const box = { x, y, width: 92, height: 92, rx: 14 };
    return s('rect', { class: 'tile', 'data-square': square, ...box });
  });
}

/**
 * What one sees through the holes of a plate; a little smaller, so that no edge of it shows.
 * @param {Game} game
 */
const depth = ({ files, ranks }) =>
  s('rect', { class: 'depth', x: 6, y: 6, width: files * 100 - 12, height: ranks * 100 - 12 });

/**
 * A plate as large as the board; every hole is drawn the other way round, so that it stays empty.
 * @param {Game} game
 */
function plateWithHoles({ files, ranks }) {
  let path = `M0 0H${files * 100}V${ranks * 100}H0Z`;
  for (let file = 0; file < files; file++) {
    for (let rank = 0; rank < ranks; rank++) {
      path += `M${file * 100 + 50} ${rank * 100 + 10}a40 40 0 1 0 .01 0Z`;
    }
  }
  return path;
}

/**
 * A small picture of what a game is like.
 * @param {Game} game
 */
export function sample(game) {
  const picture = new Picture(game);
  picture.show({ board: new Board(game, customsOf(game.game).sample ?? '') });
  return picture.element;
}
