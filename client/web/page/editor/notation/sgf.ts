// Reads and writes positions as SGF: the stones before the first move (AB, AW, AE) and the side to
// move (PL).

import { Board } from '../../model/position.ts';
import { PositionError } from '../position-error.ts';

import type { Game } from '../../net/protocol.ts';
import type { EditorPosition, ParsedPosition } from '../editor-position.ts';

/** How SGF writes a game. */
export interface SgfFormat {
  /** number of the game (`GM`) */
  kind: number;
  /** letters of Black and White in the server's notation */
  pieces: [string, string];
  /** whether the first rank is at the top */
  downwards: boolean;
}

/** The beginning of the first game. Programs and mails may have text before it. */
const BEGINNING = /\(\s*;/;
/** One token of a game: a property with its values, or a delimiter. */
const TOKEN = /\s*(?:([A-Za-z]+)((?:\s*\[(?:\\[\s\S]|[^\]\\])*\])+)|([;()]))/y;
const VALUE = /\[((?:\\[\s\S]|[^\]\\])*)\]/g;
const GO = 1;
/** Size of a Go board without `SZ`. */
const GO_LINES = 19;

/** A node: the values of its properties by name. */
export type SgfNode = Map<string, string[]>;

export const isSgf = (text: string) => text.trimStart().startsWith('(') || BEGINNING.test(text);

/** The position before the first move of the first game, in its main line. */
export function readSgf(text: string, game: Game, format: SgfFormat): ParsedPosition {
  const { nodes, isWhole } = mainLineOf(text);
  const firstMove = nodes.findIndex(isMove);
  // After the first move, the text is only used to count moves.
  const isTruncated = !isWhole && firstMove < 0;
  const [root] = nodes;
  if (root === undefined || isTruncated) throw new PositionError('setup.bad.sgf');
  checkGame(root, game, format);
  // A node with set-up and a move is against the standard. Programs read its set-up first.
  const before = firstMove < 0 ? nodes : nodes.slice(0, firstMove + 1);
  const squares = setUpOf(before, game, format);
  const moves = nodes.reduce((sum, node) => sum + movesIn(node).length, 0);
  // The editor cannot play the moves.
  if (squares.size === 0 && moves > 0) throw new PositionError('setup.bad.moves');
  return { squares, turn: turnOf(before, squares, format), moveCount: moves };
}

/**
 * The nodes of the main line. It takes the first of several variations, and ends at the first `)`.
 * @returns `isWhole` is false if something in it is not SGF
 */
function mainLineOf(text: string): { nodes: SgfNode[]; isWhole: boolean } {
  const nodes: SgfNode[] = [];
  const start = text.search(BEGINNING);
  if (start < 0) return { nodes, isWhole: false };
  const token = new RegExp(TOKEN);
  token.lastIndex = start;
  let end = start;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    end = token.lastIndex;
    const [, name = '', values = '', delimiter] = match;
    if (delimiter === ')') return { nodes, isWhole: true };
    if (delimiter === ';') nodes.push(new Map());
    if (delimiter === undefined) addProperty(nodes.at(-1), name, values);
  }
  // Many files lack the last `)`.
  return { nodes, isWhole: text.slice(end).trim() === '' };
}

/** Repeated properties of a node are merged. */
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
  const squares = new Map<string, string>();
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
 * The seat to move: the seat in PL, or else the seat of the first move. Without both, White moves
 * if only Black has stones, which are a handicap.
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

/** The squares of a point, or of a rectangle given by two corners. */
function pointsOf(value: string, game: Game, downwards: boolean) {
  const corners = value.split(':');
  const ends = corners.map((corner) => {
    const [file = -1, row = -1] = [...corner].map((letter) => letter.charCodeAt(0) - 97);
    const isOnBoard = file >= 0 && row >= 0 && file < game.files && row < game.ranks;
    if (!/^[a-z]{2}$/.test(corner) || !isOnBoard)
      throw new PositionError('setup.bad.point', { point: corner });
    return { file, row };
  });
  const [from, to = from] = ends;
  if (!from || !to || ends.length > 2) throw new PositionError('setup.bad.point', { point: value });
  const board = new Board(game, '');
  const between = (a: number, b: number) =>
    Array.from({ length: Math.abs(b - a) + 1 }, (_, index) => Math.min(a, b) + index);
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
  const stones = [...squares].map(([square, piece]) => {
    const { file, rank } = board.coordinatesOf(square) ?? { file: 0, rank: 0 };
    const row = downwards ? rank : game.ranks - 1 - rank;
    return { piece, point: String.fromCharCode(97 + file, 97 + row) };
  });
  const property = (name: string, letter: string) => {
    const points = stones.filter(({ piece }) => piece === letter).map(({ point }) => point);
    const values = points.sort().map((point) => `[${point}]`);
    return values.length > 0 ? name + values.join('') : '';
  };
  const setUp = property('AB', pieces[0]) + property('AW', pieces[1]);
  return `(;GM[${kind}]FF[4]SZ[${game.files}]${setUp}PL[${turn === 0 ? 'B' : 'W'}])`;
}
