// Chess. Moves are written from square to square, so they are played by picking up and putting down;
// which there are is the server's to say.

import { drawn } from './chess-pieces.js';
import { capital, known, list, say } from '../language.js';

/** @import { Board } from '../position.js' */

/** What each side begins with, from the most valuable on. */
const SET = Object.entries({ q: 1, r: 2, b: 2, n: 2, p: 8 });
/** What players reckon a piece to be worth. @type {Record<string, number>} */
const WORTH = { q: 9, r: 5, b: 3, n: 3, p: 1 };
/** The steps of a piece that goes on until something is in the way. */
const STRAIGHT = [[1, 0], [-1, 0], [0, 1], [0, -1]]; // prettier-ignore
const SLANTED = [[1, 1], [1, -1], [-1, 1], [-1, -1]]; // prettier-ignore
const LEAPS = [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]]; // prettier-ignore

/** @param {string} piece */
const isWhite = (piece) => piece === piece.toUpperCase();
/** @param {string} kind @param {boolean} white */
const ofSide = (kind, white) => (white ? kind.toUpperCase() : kind);
/** @param {string} piece */
const nameOf = (piece) => known(`chess.name.${piece.toLowerCase()}`) ?? piece;

/** @type {import('../games.js').Customs} */
export const customs = {
  sample: 'r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R b KQkq - 0 5',
  look: 'chequers',
  inside: 'edges',
  faces: true,
  seatOf: (piece) => (isWhite(piece) ? 0 : 1),
  pieceOf: (seat) => (seat === 0 ? 'K' : 'k'),
  piece: (_, piece) => drawn(piece.toLowerCase()),
  sayPiece: (piece) => known(`chess.${piece}`) ?? piece,
  choices: (moves, board) => {
    const becomes = (/** @type {string} */ move) => move.slice(4);
    const order = SET.map(([kind]) => kind);
    const sorted = moves.toSorted((a, b) => order.indexOf(becomes(a)) - order.indexOf(becomes(b)));
    return sorted.map((move) => ({
      move,
      title: capital(nameOf(becomes(move))),
      piece: ofSide(becomes(move), isWhite(board.at(move.slice(0, 2)))),
    }));
  },
  check: (board) => {
    const white = board.position.split(' ')[1] === 'w';
    const king = [...board.squares()].find((square) => board.at(square) === ofSide('k', white));
    return king !== undefined && isAttacked(board, king, white) ? king : null;
  },
  tally: (board) => {
    const counts = board.count();
    const worth = (/** @type {boolean} */ white) =>
      SET.reduce(
        (sum, [kind]) => sum + (WORTH[kind] ?? 0) * (counts.get(ofSide(kind, white)) ?? 0),
        0,
      );
    const lead = worth(true) - worth(false);
    const taken = (/** @type {boolean} */ white, /** @type {number} */ ahead) => {
      const pieces = gone(counts, white);
      const says = [sayTaken(pieces), ahead > 0 && say('chess.ahead', { count: ahead })];
      return { pieces, shown: ahead > 0 ? `+${ahead}` : '', says: says.filter(Boolean).join(', ') };
    };
    return [taken(false, lead), taken(true, -lead)];
  },
  sayMove: (move, before) => {
    const [from, to, becomes] = [move.slice(0, 2), move.slice(2, 4), move.slice(4)];
    const piece = before && !before.isEmpty(from) ? nameOf(before.at(from)) : '';
    const said = piece
      ? say('chess.move.piece', { piece, from, to })
      : say('chess.move', { from, to });
    return becomes ? say('chess.becomes', { move: said, piece: nameOf(becomes) }) : said;
  },
  hint: say('hint.piece'),
  touchHint: say('hint.piece.touch'),
};

/**
 * What a side has lost.
 * @param {Map<string, number>} counts
 * @param {boolean} white
 */
function gone(counts, white) {
  const lacking = SET.map(([kind, count]) => {
    const piece = ofSide(kind, white);
    return { piece, lacks: count - (counts.get(piece) ?? 0) };
  });
  // What there is more of than at the start were pawns, which are missing and yet nobody took them.
  const promoted = lacking.reduce((sum, { lacks }) => sum + Math.max(0, -lacks), 0);
  return lacking.flatMap(({ piece, lacks }) => {
    const length = Math.max(0, piece.toLowerCase() === 'p' ? lacks - promoted : lacks);
    return Array.from({ length }, () => piece);
  });
}

/** @param {string[]} pieces */
function sayTaken(pieces) {
  const kinds = [...new Set(pieces)].map((kind) => {
    const count = pieces.filter((piece) => piece === kind).length;
    return count === 1
      ? nameOf(kind)
      : (known(`chess.many.${kind.toLowerCase()}`, { count }) ?? kind);
  });
  return kinds.length > 0 ? say('chess.taken', { pieces: list(kinds) }) : '';
}

/**
 * Whether a piece of the other side could come here. The wire does not tell of a check, which the
 * board only marks; what may be played does not depend on it.
 * @param {Board} board
 * @param {string} square
 * @param {boolean} white whose square it is
 */
function isAttacked(board, square, white) {
  const place = board.place(square);
  if (!place) return false;
  const { file, rank } = place;
  const at = (/** @type {number} */ right, /** @type {number} */ up) =>
    board.at(board.name(file + right, rank + up));
  const is = (/** @type {string} */ piece, /** @type {string} */ kinds) =>
    [...kinds].some((kind) => piece === ofSide(kind, !white));
  const ray = (/** @type {number[]} */ [right = 0, up = 0]) => {
    for (let step = 1; step < 8; step++) {
      const piece = at(right * step, up * step);
      if (piece !== '.') return { piece, step };
    }
    return { piece: '.', step: 0 };
  };
  const along = (/** @type {number[][]} */ ways, /** @type {string} */ kinds) =>
    ways.map(ray).some(({ piece, step }) => is(piece, kinds) || (step === 1 && is(piece, 'k')));
  return (
    along(STRAIGHT, 'rq') ||
    along(SLANTED, 'bq') ||
    LEAPS.some(([right = 0, up = 0]) => is(at(right, up), 'n')) ||
    [-1, 1].some((right) => is(at(right, white ? 1 : -1), 'p'))
  );
}
