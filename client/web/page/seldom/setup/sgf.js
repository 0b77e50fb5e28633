// Positions as SGF has them: stones that are set up at the beginning (AB, AW), and whose turn it is (PL).

import { Board } from '../../position.js';
import { Wrong } from './wrong.js';

/** @import { Game } from '../../../protocol.js' */
/** @import { Draft, Told } from './draft.js' */

/**
 * How a game is written in it.
 * @typedef {object} Kind
 * @property {number} kind its number (GM)
 * @property {[string, string]} pieces of both sides, as positions write them
 * @property {boolean} downwards whether the first rank lies on top
 */

/** The first node, and its properties with their values. */
const ROOT = /\(\s*;((?:\s*[A-Za-z]+(?:\s*\[(?:\\[\s\S]|[^\]\\])*\])+)*)/;
const PROPERTY = /([A-Za-z]+)((?:\s*\[(?:\\[\s\S]|[^\]\\])*\])+)/g;
const VALUE = /\[((?:\\[\s\S]|[^\]\\])*)\]/g;
const MOVE = /[;\]]\s*[BW]\s*\[/g;
const GO = 1;

/** Whether a text means to be SGF. @param {string} text */
export const isSgf = (text) => text.trimStart().startsWith('(');

/**
 * @param {string} text
 * @param {Game} game
 * @param {Kind} kind
 * @returns {Told}
 */
export function readSgf(text, game, { kind, pieces, downwards }) {
  const root = ROOT.exec(text)?.[1];
  if (root === undefined) throw new Wrong('setup.bad.sgf');
  /** @type {Map<string, string[]>} */
  const told = new Map();
  for (const [, name = '', values = ''] of root.matchAll(PROPERTY)) {
    const short = name.replaceAll(/[a-z]/g, '');
    told.set(
      short,
      [...values.matchAll(VALUE)].map(([, value = '']) => value.trim()),
    );
  }
  const number = (/** @type {string} */ name, /** @type {number} */ usual) =>
    Number.parseInt(told.get(name)?.[0] ?? String(usual), 10);
  if (number('GM', kind) !== kind && !(kind !== GO && !told.has('GM')))
    throw new Wrong('setup.bad.kind', { game: game.title });
  const size = number('SZ', game.files);
  if (size !== game.files) throw new Wrong('setup.bad.size', { size, files: game.files });
  const squares = new Map();
  for (const [name, piece] of /** @type {const} */ ([
    ['AB', pieces[0]],
    ['AW', pieces[1]],
  ])) {
    for (const value of told.get(name) ?? [])
      for (const square of pointsOf(value, game, downwards)) squares.set(square, piece);
  }
  const moves = [...text.matchAll(MOVE)].length;
  // Moves would have to be played, which is done in a match.
  if (squares.size === 0 && moves > 0) throw new Wrong('setup.bad.moves');
  return { squares, turn: turnOf(told, squares.size), moves };
}

/** Whose turn it is; where nothing says so, of whoever does not give a handicap. @param {Map<string, string[]>} told @param {number} count */
function turnOf(told, count) {
  const player = told.get('PL')?.[0]?.toUpperCase().charAt(0);
  if (player !== undefined) return player === 'W' ? 1 : 0;
  return count > 0 && !told.has('AW') ? 1 : 0;
}

/** A point, or all from one corner to another. @param {string} value @param {Game} game @param {boolean} downwards */
function pointsOf(value, game, downwards) {
  const corners = value.split(':');
  const ends = corners.map((corner) => {
    const [file = -1, row = -1] = [...corner].map((letter) => letter.charCodeAt(0) - 97);
    const isThere = file >= 0 && row >= 0 && file < game.files && row < game.ranks;
    if (!/^[a-z]{2}$/.test(corner) || !isThere)
      throw new Wrong('setup.bad.point', { point: corner });
    return { file, row };
  });
  const [from, to = from] = ends;
  if (!from || !to) throw new Wrong('setup.bad.point', { point: value });
  const board = new Board(game, '');
  const between = (/** @type {number} */ one, /** @type {number} */ other) =>
    Array.from({ length: Math.abs(other - one) + 1 }, (_, at) => Math.min(one, other) + at);
  return between(from.row, to.row).flatMap((row) =>
    between(from.file, to.file).map((file) =>
      board.name(file, downwards ? row : game.ranks - 1 - row),
    ),
  );
}

/**
 * @param {Pick<Draft, 'squares' | 'turn'>} draft
 * @param {Game} game
 * @param {Kind} kind
 */
export function writeSgf({ squares, turn }, game, { kind, pieces, downwards }) {
  const board = new Board(game, '');
  const all = [...squares].map(([square, piece]) => {
    const { file, rank } = board.place(square) ?? { file: 0, rank: 0 };
    const row = downwards ? rank : game.ranks - 1 - rank;
    return { piece, point: String.fromCharCode(97 + file, 97 + row) };
  });
  const set = (/** @type {string} */ name, /** @type {string} */ wanted) => {
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
