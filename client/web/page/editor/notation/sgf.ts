// Reads and writes positions as SGF: the stones set up before the first move (AB, AW, AE), and the side to move (PL).

import { Board } from '../../model/position.ts';
import { PositionError } from '../position-error.ts';

import type { Game } from '../../net/protocol.ts';
import type { EditorPosition, ParsedPosition } from '../editor-position.ts';

/** How a game is written in it. */
export interface SgfFormat {
  /** its number (GM) */
  kind: number;
  /** of both sides, as positions write them */
  pieces: [string, string];
  /** whether the first rank lies on top */
  downwards: boolean;
}

/** The beginning of the first game. Programs and mails may have text before it. */
const BEGINNING = /\(\s*;/;
/** One token of a game: a property with its values, or a sign. */
const TOKEN = /\s*(?:([A-Za-z]+)((?:\s*\[(?:\\[\s\S]|[^\]\\])*\])+)|([;()]))/y;
const VALUE = /\[((?:\\[\s\S]|[^\]\\])*)\]/g;
const GO = 1;
/** Number of lines of a Go board for which SGF has no `SZ`. */
const GO_LINES = 19;

/** A node: the values of its properties by name. */
export type SgfNode = Map<string, string[]>;

/** Whether a text is meant to be SGF. */
export const isSgf = (text: string) => text.trimStart().startsWith('(') || BEGINNING.test(text);

/** The position before the first move of the first game, in its main line. */
export function readSgf(text: string, game: Game, kind: SgfFormat): ParsedPosition {
  const { nodes, isWhole } = mainLineOf(text);
  const first = nodes.findIndex(isMove);
  // What follows the first move is only counted.
  const isCut = !isWhole && first < 0;
  const [root] = nodes;
  if (root === undefined || isCut) throw new PositionError('setup.bad.sgf');
  checkGame(root, game, kind);
  // A node with set-up and a move is against the standard. Programs read its set-up first.
  const before = first < 0 ? nodes : nodes.slice(0, first + 1);
  const squares = setUpOf(before, game, kind);
  const moves = nodes.reduce((sum, node) => sum + movesIn(node).length, 0);
  // Moves would have to be played, which is done in a match.
  if (squares.size === 0 && moves > 0) throw new PositionError('setup.bad.moves');
  return { squares, turn: turnOf(before, squares, kind), moveCount: moves };
}

/**
 * The nodes of the main line: of several variations it takes the first, so that it ends with the first `)`.
 * @returns `isWhole` is false if something in it is not SGF
 */
function mainLineOf(text: string): { nodes: SgfNode[]; isWhole: boolean } {
  const nodes: SgfNode[] = [];
  const start = text.search(BEGINNING);
  if (start < 0) return { nodes, isWhole: false };
  const token = new RegExp(TOKEN);
  token.lastIndex = start;
  let at = start;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    at = token.lastIndex;
    const [, name = '', values = '', sign] = found;
    if (sign === ')') return { nodes, isWhole: true };
    if (sign === ';') nodes.push(new Map());
    if (sign === undefined) addProperty(nodes.at(-1), name, values);
  }
  // Many files lack the last `)`.
  return { nodes, isWhole: text.slice(at).trim() === '' };
}

/** A property that is there twice has the values of both. */
function addProperty(node: SgfNode | undefined, name: string, values: string) {
  // Older versions of SGF write `AddBlack` for `AB`.
  const short = name.replaceAll(/[a-z]/g, '');
  const all = node?.get(short) ?? [];
  for (const [, value = ''] of values.matchAll(VALUE)) all.push(value.trim());
  node?.set(short, all);
}

const movesIn = (node: SgfNode) => ['B', 'W'].filter((name) => node.has(name));

const isMove = (node: SgfNode) => movesIn(node).length > 0;

/** Checks that a record is of this game, and its board of this size. */
function checkGame(root: SgfNode, game: Game, { kind }: SgfFormat) {
  const [number] = root.get('GM') ?? [];
  if (number !== undefined && (!/^\d+$/.test(number) || Number(number) !== kind))
    throw new PositionError('setup.bad.kind', { game: game.title });
  const { files, ranks } = game;
  const [size] = root.get('SZ') ?? [];
  if (size === undefined) {
    if (kind !== GO || (files === GO_LINES && ranks === GO_LINES)) return;
    throw new PositionError('setup.bad.unsized', { size: GO_LINES, files });
  }
  const [, columns, rows = columns] = /^(\d+)(?:\s*:\s*(\d+))?$/.exec(size) ?? [];
  if (columns === undefined) throw new PositionError('setup.bad.number', { text: size });
  if (Number(columns) === files && Number(rows) === ranks) return;
  const lines = columns === rows ? Number(columns) : `${columns}×${rows}`;
  throw new PositionError('setup.bad.size', { size: lines, files });
}

function setUpOf(nodes: SgfNode[], game: Game, { pieces, downwards }: SgfFormat) {
  const squares: Map<string, string> = new Map();
  const pointsIn = (node: SgfNode, name: string) =>
    (node.get(name) ?? []).flatMap((value) => pointsOf(value, game, downwards));
  for (const node of nodes) {
    for (const square of pointsIn(node, 'AB')) squares.set(square, pieces[0]);
    for (const square of pointsIn(node, 'AW')) squares.set(square, pieces[1]);
    for (const square of pointsIn(node, 'AE')) squares.delete(square);
  }
  return squares;
}

/**
 * The seat to move: the one that PL names, or that makes the first move. Without both, White moves if only Black has
 * stones, which are a handicap.
 * @param nodes up to the first move
 */
function turnOf(
  nodes: SgfNode[],
  squares: Map<string, string>,
  { pieces: [black, white] }: SgfFormat,
) {
  const player = nodes.flatMap((node) => node.get('PL') ?? []).at(-1);
  if (player !== undefined) return player.toUpperCase().startsWith('W') ? 1 : 0;
  const [first] = nodes.flatMap(movesIn);
  if (first !== undefined) return first === 'W' ? 1 : 0;
  const all = [...squares.values()];
  return all.includes(black) && !all.includes(white) ? 1 : 0;
}

/** A point, or all from one corner to another. */
function pointsOf(value: string, game: Game, downwards: boolean) {
  const corners = value.split(':');
  const ends = corners.map((corner) => {
    const [file = -1, row = -1] = [...corner].map((letter) => letter.charCodeAt(0) - 97);
    const isThere = file >= 0 && row >= 0 && file < game.files && row < game.ranks;
    if (!/^[a-z]{2}$/.test(corner) || !isThere)
      throw new PositionError('setup.bad.point', { point: corner });
    return { file, row };
  });
  const [from, to = from] = ends;
  if (!from || !to || ends.length > 2) throw new PositionError('setup.bad.point', { point: value });
  const board = new Board(game, '');
  const between = (one: number, other: number) =>
    Array.from({ length: Math.abs(other - one) + 1 }, (_, at) => Math.min(one, other) + at);
  return between(from.row, to.row).flatMap((row) =>
    between(from.file, to.file).map((file) =>
      board.squareName(file, downwards ? row : game.ranks - 1 - row),
    ),
  );
}

export function writeSgf(
  { squares, turn }: Pick<EditorPosition, 'squares' | 'turn'>,
  game: Game,
  { kind, pieces, downwards }: SgfFormat,
) {
  const board = new Board(game, '');
  const all = [...squares].map(([square, piece]) => {
    const { file, rank } = board.coordinatesOf(square) ?? { file: 0, rank: 0 };
    const row = downwards ? rank : game.ranks - 1 - rank;
    return { piece, point: String.fromCharCode(97 + file, 97 + row) };
  });
  const set = (name: string, wanted: string) => {
    const points = all.filter(({ piece }) => piece === wanted).map(({ point }) => point);
    return points.length > 0
      ? name +
          points
            .sort()
            .map((point) => `[${point}]`)
            .join('')
      : '';
  };
  const stones = set('AB', pieces[0]) + set('AW', pieces[1]);
  return `(;GM[${kind}]FF[4]SZ[${game.files}]${stones}PL[${turn === 0 ? 'B' : 'W'}])`;
}
