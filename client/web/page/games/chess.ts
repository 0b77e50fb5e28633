// Display conventions of chess. The server determines the legal moves.

import { drawChessPiece } from './chess-pieces.ts';
import { capitalize, tryTranslate, formatList, translate } from '../text/language.ts';

import type { GameConventions } from '../model/game-conventions.ts';

/** Initial number of pieces of each side, the most valuable kind first. */
const INITIAL_COUNTS = Object.entries({ q: 1, r: 2, b: 2, n: 2, p: 8 });
/** Conventional piece values in pawns. */
const PIECE_VALUES: Record<string, number> = { q: 9, r: 5, b: 3, n: 3, p: 1 };
const isWhite = (piece: string) => piece === piece.toUpperCase();
const pieceOfSide = (kind: string, white: boolean) => (white ? kind.toUpperCase() : kind);
const nameOf = (piece: string) => tryTranslate(`chess.name.${piece.toLowerCase()}`) ?? piece;

export const conventions: GameConventions = {
  sample: 'r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R b KQkq - 0 5',
  boardStyle: 'chequers',
  labelledSquares: 'edges',
  hasOrientation: true,
  seatOf: (piece) => (isWhite(piece) ? 0 : 1),
  pieceOf: (seat) => (seat === 0 ? 'K' : 'k'),
  drawPiece: (_, piece) => drawChessPiece(piece.toLowerCase()),
  pieceName: (piece) => tryTranslate(`chess.${piece}`) ?? piece,
  moveChoices: (moves, board) => {
    const promotion = (move: string) => move.slice(4);
    const order = INITIAL_COUNTS.map(([kind]) => kind);
    const sorted = moves.toSorted(
      (a, b) => order.indexOf(promotion(a)) - order.indexOf(promotion(b)),
    );
    return sorted.map((move) => ({
      move,
      title: capitalize(nameOf(promotion(move))),
      piece: pieceOfSide(promotion(move), isWhite(board.pieceAt(move.slice(0, 2)))),
    }));
  },
  kingSquare: (board) => {
    const king = pieceOfSide('k', board.position.split(' ')[1] === 'w');
    return [...board.squares()].find((square) => board.pieceAt(square) === king) ?? null;
  },
  tally: (board) => {
    const counts = board.countPieces();
    const material = (white: boolean) =>
      INITIAL_COUNTS.reduce(
        (sum, [kind]) =>
          sum + (PIECE_VALUES[kind] ?? 0) * (counts.get(pieceOfSide(kind, white)) ?? 0),
        0,
      );
    const lead = material(true) - material(false);
    const tallyOf = (white: boolean, ahead: number) => {
      const pieces = capturedPieces(counts, white);
      const parts = [
        describeCaptured(pieces),
        ahead > 0 && translate('chess.ahead', { count: ahead }),
      ];
      return {
        pieces,
        shortText: ahead > 0 ? `+${ahead}` : '',
        text: parts.filter(Boolean).join(', '),
      };
    };
    return [tallyOf(false, lead), tallyOf(true, -lead)];
  },
  describeMove: (move, before) => {
    const [from, to, promotion] = [move.slice(0, 2), move.slice(2, 4), move.slice(4)];
    const piece = before && !before.isEmpty(from) ? nameOf(before.pieceAt(from)) : '';
    const text = piece
      ? translate('chess.move.piece', { piece, from, to })
      : translate('chess.move', { from, to });
    return promotion ? translate('chess.becomes', { move: text, piece: nameOf(promotion) }) : text;
  },
  // A premove shows no promotion dialog: it promotes to the first of `moveChoices`, a queen.
  premoveNote: ([from = '', to = ''], board) =>
    /^p$/i.test(board.pieceAt(from)) && /[18]$/.test(to) ? translate('chess.ahead.queen') : '',
  figurines: { K: '♔', Q: '♕', R: '♖', B: '♗', N: '♘' },
  howToPlay: translate('hint.piece'),
  howToPlayByTouch: translate('hint.piece.touch'),
};

/** Lists the captured pieces of a side. */
function capturedPieces(counts: Map<string, number>, white: boolean) {
  const missing = INITIAL_COUNTS.map(([kind, count]) => {
    const piece = pieceOfSide(kind, white);
    return { piece, missingCount: count - (counts.get(piece) ?? 0) };
  });
  // Each piece above the initial number is a promoted pawn. Such pawns are missing but not
  // captured.
  const promoted = missing.reduce((sum, { missingCount }) => sum + Math.max(0, -missingCount), 0);
  return missing.flatMap(({ piece, missingCount }) => {
    const length = Math.max(
      0,
      piece.toLowerCase() === 'p' ? missingCount - promoted : missingCount,
    );
    return Array.from({ length }, () => piece);
  });
}

function describeCaptured(pieces: string[]) {
  const kinds = [...new Set(pieces)].map((kind) => {
    const count = pieces.filter((piece) => piece === kind).length;
    return count === 1
      ? nameOf(kind)
      : (tryTranslate(`chess.many.${kind.toLowerCase()}`, { count }) ?? kind);
  });
  return kinds.length > 0 ? translate('chess.taken', { pieces: formatList(kinds) }) : '';
}
