// Chess. Moves are written from square to square, so they are played by picking up and putting down;
// which there are is the server's to say.

import { drawChessPiece } from './chess-pieces.ts';
import { capitalize, tryTranslate, formatList, translate } from '../text/language.ts';

/** What each side begins with, from the most valuable on. */
const SET = Object.entries({ q: 1, r: 2, b: 2, n: 2, p: 8 });
/** What players reckon a piece to be worth. */
const WORTH: Record<string, number> = { q: 9, r: 5, b: 3, n: 3, p: 1 };
const isWhite = (piece: string) => piece === piece.toUpperCase();
const ofSide = (kind: string, white: boolean) => (white ? kind.toUpperCase() : kind);
const nameOf = (piece: string) => tryTranslate(`chess.name.${piece.toLowerCase()}`) ?? piece;

export const conventions: import('../model/game-conventions.ts').GameConventions = {
  sample: 'r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R b KQkq - 0 5',
  boardStyle: 'chequers',
  labelledSquares: 'edges',
  hasOrientation: true,
  seatOf: (piece) => (isWhite(piece) ? 0 : 1),
  pieceOf: (seat) => (seat === 0 ? 'K' : 'k'),
  drawPiece: (_, piece) => drawChessPiece(piece.toLowerCase()),
  pieceName: (piece) => tryTranslate(`chess.${piece}`) ?? piece,
  moveChoices: (moves, board) => {
    const becomes = (move: string) => move.slice(4);
    const order = SET.map(([kind]) => kind);
    const sorted = moves.toSorted((a, b) => order.indexOf(becomes(a)) - order.indexOf(becomes(b)));
    return sorted.map((move) => ({
      move,
      title: capitalize(nameOf(becomes(move))),
      piece: ofSide(becomes(move), isWhite(board.pieceAt(move.slice(0, 2)))),
    }));
  },
  kingSquare: (board) => {
    const king = ofSide('k', board.position.split(' ')[1] === 'w');
    return [...board.squares()].find((square) => board.pieceAt(square) === king) ?? null;
  },
  tally: (board) => {
    const counts = board.countPieces();
    const worth = (white: boolean) =>
      SET.reduce(
        (sum, [kind]) => sum + (WORTH[kind] ?? 0) * (counts.get(ofSide(kind, white)) ?? 0),
        0,
      );
    const lead = worth(true) - worth(false);
    const taken = (white: boolean, ahead: number) => {
      const pieces = gone(counts, white);
      const says = [sayTaken(pieces), ahead > 0 && translate('chess.ahead', { count: ahead })];
      return {
        pieces,
        shortText: ahead > 0 ? `+${ahead}` : '',
        text: says.filter(Boolean).join(', '),
      };
    };
    return [taken(false, lead), taken(true, -lead)];
  },
  describeMove: (move, before) => {
    const [from, to, becomes] = [move.slice(0, 2), move.slice(2, 4), move.slice(4)];
    const piece = before && !before.isEmpty(from) ? nameOf(before.pieceAt(from)) : '';
    const said = piece
      ? translate('chess.move.piece', { piece, from, to })
      : translate('chess.move', { from, to });
    return becomes ? translate('chess.becomes', { move: said, piece: nameOf(becomes) }) : said;
  },
  // It is not asked while the other one thinks: of all that may be meant, `choices` has this first.
  premoveNote: ([from = '', to = ''], board) =>
    /^p$/i.test(board.pieceAt(from)) && /[18]$/.test(to) ? translate('chess.ahead.queen') : '',
  figurines: { K: '♔', Q: '♕', R: '♖', B: '♗', N: '♘' },
  howToPlay: translate('hint.piece'),
  howToPlayByTouch: translate('hint.piece.touch'),
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
      : (tryTranslate(`chess.many.${kind.toLowerCase()}`, { count }) ?? kind);
  });
  return kinds.length > 0 ? translate('chess.taken', { pieces: formatList(kinds) }) : '';
}
