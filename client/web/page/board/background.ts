// Draws the board's background in the style of its game.

import { svg } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { Board } from '../model/position.ts';

import type { Game } from '../net/protocol.ts';
import type { Layout } from './layout.ts';

export const boardStyleOf = ({ game }: Game) => conventionsOf(game).boardStyle ?? 'tiles';

/** Draws everything under the pieces. Elements of a single square have `data-square`. */
export function drawBackground(game: Game, layout: Layout): SVGElement[] {
  switch (boardStyleOf(game)) {
    case 'plate':
      return [plateHoles(game)];
    case 'chequers':
      return [...squares(game, layout), ...squareLabels(game, layout)];
    case 'cloth':
      return [...squares(game, layout), ...starPoints(game, layout, 50)];
    case 'crossings':
      return [wood(game), gridLines(game), ...starPoints(game, layout, 0)];
    case 'tiles':
      return [...tiles(layout), ...squareLabels(game, layout, 'edges')];
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

/** Draws labels in the corners of all squares, or only of those at the left and lower edges. */
function squareLabels(
  game: Game,
  layout: Layout,
  labelledSquares = conventionsOf(game.game).labelledSquares,
) {
  const { squareLabel, fileLabel, rankLabel } = conventionsOf(game.game);
  // Tiles have round corners.
  const inset = boardStyleOf(game) === 'tiles' ? 39 : 46;
  const label = (square: string, text: string, isAtBottom = false) => {
    const { x, y } = layout.center(square);
    const corner = isAtBottom
      ? { x: x + inset, y: y + inset - 1, 'text-anchor': 'end' }
      : { x: x - inset, y: y - inset, 'dominant-baseline': 'hanging' };
    return svg('text', { class: 'number', ...corner }, text);
  };
  if (labelledSquares === 'all')
    return layout.rows.flat().map((square) => label(square, squareLabel(square)));
  if (labelledSquares !== 'edges') return [];
  const [files, ranks] = [layout.files(), layout.ranks()];
  return [
    ...layout.rows.map(([square = ''], row) => label(square, rankLabel(ranks[row] ?? 0))),
    ...(layout.rows.at(-1) ?? []).map((square, column) =>
      label(square, fileLabel(files[column] ?? 0), true),
    ),
  ];
}

/**
 * The colour behind the holes of a plate, a little smaller than the plate so that its edge is
 * hidden.
 */
const plateHoles = ({ files, ranks }: Game) =>
  svg('rect', { class: 'depth', x: 6, y: 6, width: files * 100 - 12, height: ranks * 100 - 12 });

const wood = ({ files, ranks }: Game) =>
  svg('rect', { class: 'wood', width: files * 100, height: ranks * 100 });

function gridLines({ files, ranks }: Game) {
  let path = '';
  for (let file = 0; file < files; file++) path += `M${file * 100 + 50} 50v${(ranks - 1) * 100}`;
  for (let rank = 0; rank < ranks; rank++) path += `M50 ${rank * 100 + 50}h${(files - 1) * 100}`;
  return svg('path', { class: 'grid-lines', d: path });
}

/** @param offset distance from the centre of a square, to the right and down */
const starPoints = (game: Game, layout: Layout, offset: number) =>
  (conventionsOf(game.game).starPoints ?? []).map((square) => {
    const { x, y } = layout.center(square);
    return svg('circle', { class: 'star', cx: x + offset, cy: y + offset, r: offset ? 7 : 10 });
  });

/**
 * The outline of a plate with holes. The holes run in the opposite direction, so that they stay
 * empty.
 */
export function platePath({ files, ranks }: Game) {
  let path = `M0 0H${files * 100}V${ranks * 100}H0Z`;
  for (let file = 0; file < files; file++) {
    for (let rank = 0; rank < ranks; rank++) {
      path += `M${file * 100 + 50} ${rank * 100 + 10}a40 40 0 1 0 .01 0Z`;
    }
  }
  return path;
}
