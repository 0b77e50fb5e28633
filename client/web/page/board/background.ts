// What lies under the pieces: squares apart, a plate with holes, a chequered board, a cloth with
// lines, or crossings.

import { svg } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { Board } from '../model/position.ts';

import type { Game } from '../net/protocol.ts';
import type { Layout } from './layout.ts';

/** How a board is drawn where its game says nothing. */
export const boardStyleOf = ({ game }: Game) => conventionsOf(game).boardStyle ?? 'tiles';

/** What lies under the pieces. What stands for a square says so in `data-square`. */
export function drawBackground(game: Game, layout: Layout): SVGElement[] {
  switch (boardStyleOf(game)) {
    case 'plate':
      return [depth(game)];
    case 'chequers':
      return [...squares(game, layout), ...numbers(game, layout)];
    case 'cloth':
      return [...squares(game, layout), ...stars(game, layout, 50)];
    case 'crossings':
      return [wood(game), lines(game), ...stars(game, layout, 0)];
    case 'tiles':
      return [...tiles(layout), ...numbers(game, layout, 'edges')];
  }
}

const tiles = (layout: Layout) =>
  layout.rows.flat().map((square) => {
    const { x, y } = layout.center(square);
    const box = { x: x - 46, y: y - 46, width: 92, height: 92, rx: 14 };
    return svg('rect', { class: 'tile', 'data-square': square, ...box });
  });

function squares(game: Game, layout: Layout) {
  const board = new Board(game, '');
  return layout.rows.flat().map((square) => {
    const { file, rank } = board.coordinatesOf(square) ?? { file: 0, rank: 0 };
    const { x, y } = layout.center(square);
    const shade = (file + rank) % 2 === 0 ? 'dark' : 'light';
    const box = { x: x - 50, y: y - 50, width: 100, height: 100 };
    return svg('rect', { class: `square ${shade}`, 'data-square': square, ...box });
  });
}

/**
 * Labels in the corners of the squares: of all, or of those at the left and the lower edge.
 * @param inside which of them, where that is not the game's affair
 */
function numbers(
  game: Game,
  layout: Layout,
  inside: 'all' | 'edges' | undefined = conventionsOf(game.game).labelledSquares,
) {
  const { squareLabel: label, fileLabel, rankLabel } = conventionsOf(game.game);
  // Squares apart have round corners.
  const edge = boardStyleOf(game) === 'tiles' ? 39 : 46;
  const number = (square: string, text: string, low: boolean = false) => {
    const { x, y } = layout.center(square);
    const corner = low
      ? { x: x + edge, y: y + edge - 1, 'text-anchor': 'end' }
      : { x: x - edge, y: y - edge, 'dominant-baseline': 'hanging' };
    return svg('text', { class: 'number', ...corner }, text);
  };
  if (inside === 'all') return layout.rows.flat().map((square) => number(square, label(square)));
  if (inside !== 'edges') return [];
  const [files, ranks] = [layout.files(), layout.ranks()];
  return [
    ...layout.rows.map(([square = ''], at) => number(square, rankLabel(ranks[at] ?? 0))),
    ...(layout.rows.at(-1) ?? []).map((square, at) =>
      number(square, fileLabel(files[at] ?? 0), true),
    ),
  ];
}

/** What one sees through the holes of a plate; a little smaller, so that no edge of it shows. */
const depth = ({ files, ranks }: Game) =>
  svg('rect', { class: 'depth', x: 6, y: 6, width: files * 100 - 12, height: ranks * 100 - 12 });

const wood = ({ files, ranks }: Game) =>
  svg('rect', { class: 'wood', width: files * 100, height: ranks * 100 });

/** One line along each file and rank. */
function lines({ files, ranks }: Game) {
  let path = '';
  for (let file = 0; file < files; file++) path += `M${file * 100 + 50} 50v${(ranks - 1) * 100}`;
  for (let rank = 0; rank < ranks; rank++) path += `M50 ${rank * 100 + 50}h${(files - 1) * 100}`;
  return svg('path', { class: 'grid-lines', d: path });
}

/**
 * The dots by which one finds one's way.
 * @param aside how far from the middle of their squares they lie
 */
const stars = (game: Game, layout: Layout, aside: number) =>
  (conventionsOf(game.game).starPoints ?? []).map((square) => {
    const { x, y } = layout.center(square);
    return svg('circle', { class: 'star', cx: x + aside, cy: y + aside, r: aside ? 7 : 10 });
  });

/** A plate as large as the board; every hole is drawn the other way round, so that it stays empty. */
export function platePath({ files, ranks }: Game) {
  let path = `M0 0H${files * 100}V${ranks * 100}H0Z`;
  for (let file = 0; file < files; file++) {
    for (let rank = 0; rank < ranks; rank++) {
      path += `M${file * 100 + 50} ${rank * 100 + 10}a40 40 0 1 0 .01 0Z`;
    }
  }
  return path;
}
