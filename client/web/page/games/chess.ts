// Chess. Moves are written from square to square, so they are played by picking up and putting down;
// which there are is the server's to say.

import { drawn } from './chess-pieces.ts';
import { capital, known, list, say } from '../text/language.ts';

/** What each side begins with, from the most valuable on. */
const SET = Object.entries({ q: 1, r: 2, b: 2, n: 2, p: 8 });
/** What players reckon a piece to be worth. */
const WORTH: Record<string, number> = { q: 9, r: 5, b: 3, n: 3, p: 1 };
const isWhite = (piece: string) => piece === piece.toUpperCase();
const ofSide = (kind: string, white: boolean) => (white ? kind.toUpperCase() : kind);
const nameOf = (piece: string) => known(`chess.name.${piece.toLowerCase()}`) ?? piece;

export const customs: import('../model/games.ts').Customs = {
  sample: 'r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R b KQkq - 0 5',
  look: 'chequers',
  inside: 'edges',
  faces: true,
  seatOf: (piece) => (isWhite(piece) ? 0 : 1),
  pieceOf: (seat) => (seat === 0 ? 'K' : 'k'),
  piece: (_, piece) => drawn(piece.toLowerCase()),
  sayPiece: (piece) => known(`chess.${piece}`) ?? piece,
  choices: (moves, board) => {
    const becomes = (move: string) => move.slice(4);
    const order = SET.map(([kind]) => kind);
    const sorted = moves.toSorted((a, b) => order.indexOf(becomes(a)) - order.indexOf(becomes(b)));
    return sorted.map((move) => ({
      move,
      title: capital(nameOf(becomes(move))),
      piece: ofSide(becomes(move), isWhite(board.at(move.slice(0, 2)))),
    }));
  },
  king: (board) => {
    const king = ofSide('k', board.position.split(' ')[1] === 'w');
    return [...board.squares()].find((square) => board.at(square) === king) ?? null;
  },
  tally: (board) => {
    const counts = board.count();
    const worth = (white: boolean) =>
      SET.reduce(
        (sum, [kind]) => sum + (WORTH[kind] ?? 0) * (counts.get(ofSide(kind, white)) ?? 0),
        0,
      );
    const lead = worth(true) - worth(false);
    const taken = (white: boolean, ahead: number) => {
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
  // It is not asked while the other one thinks: of all that may be meant, `choices` has this first.
  becomes: ([from = '', to = ''], board) =>
    /^p$/i.test(board.at(from)) && /[18]$/.test(to) ? say('chess.ahead.queen') : '',
  figurines: { K: '♔', Q: '♕', R: '♖', B: '♗', N: '♘' },
  hint: say('hint.piece'),
  touchHint: say('hint.piece.touch'),
};

/** What a side has lost. */
function gone(counts: Map<string, number>, white: boolean) {
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

function sayTaken(pieces: string[]) {
  const kinds = [...new Set(pieces)].map((kind) => {
    const count = pieces.filter((piece) => piece === kind).length;
    return count === 1
      ? nameOf(kind)
      : (known(`chess.many.${kind.toLowerCase()}`, { count }) ?? kind);
  });
  return kinds.length > 0 ? say('chess.taken', { pieces: list(kinds) }) : '';
}
