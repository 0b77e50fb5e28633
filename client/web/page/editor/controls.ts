// What one sets up a position with, beside the board: the pieces to be put on it, and whose turn it is.

import { checkbox, radio } from '../ui/form-controls.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { EMPTY } from '../model/fen.ts';
import { translate } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { drawPieceIcon, drawSeatIcon } from '../board/piece.ts';
import { icon } from '../app/header-toggles.ts';
import { possibleCastlingRights, toFenFields } from './notation/chess.ts';
import { notationOf } from './notation/notations.ts';

import type { Game } from '../net/protocol.ts';
import type { EditorPosition } from './editor-position.ts';

const CROSS = 'M6 6l12 12M18 6 6 18';

/** The pieces, one of which is chosen, and what takes them away. */
export function piecePalette(
  game: Game,
  draft: EditorPosition,
  chosen: string,
  choose: (piece: string) => void,
) {
  const { board } = draft;
  const piece = (piece: string) =>
    named(
      radio('piece', piece, piece === chosen, () => choose(piece), drawPieceIcon(board, piece)),
      board.pieceName(piece),
    );
  const erase = named(
    radio('piece', EMPTY, chosen === EMPTY, () => choose(EMPTY), icon(CROSS)),
    translate('setup.erase'),
  );
  const pieces = notationOf(game.game).pieces(game).map(piece);
  return h(
    'fieldset',
    { class: `palette for-${game.game}` },
    h('legend', { class: 'unseen' }, translate('setup.pieces')),
    h('div', { class: 'options' }, ...pieces, erase),
  );
}

/** @param name of what is only drawn on it */
function named(label: HTMLElement, name: string) {
  label.title = name;
  label.querySelector('input')?.setAttribute('aria-label', name);
  return label;
}

/** Whose turn it is. */
export function turnPicker(
  game: Game,
  draft: EditorPosition,
  choose: (draft: EditorPosition) => void,
) {
  const { board } = draft;
  const sides = game.sides.map((side, seat) =>
    radio(
      'turn',
      String(seat),
      seat === draft.turn,
      () => choose(draft.withTurn(seat)),
      drawSeatIcon(board, seat),
      h('span', {}, sideName(side)),
    ),
  );
  const follows = draft.isTurnImplied;
  for (const side of sides) {
    const input = side.querySelector('input');
    if (input) input.disabled = follows;
  }
  return h(
    'fieldset',
    { class: 'turn' },
    h('legend', {}, translate('setup.turn')),
    h('div', { class: 'options' }, ...sides),
    follows && h('p', { class: 'note' }, translate('setup.turn.follows')),
  );
}

/** Which ways to castle are left. */
export function castlingPicker(draft: EditorPosition, choose: (draft: EditorPosition) => void) {
  const more = toFenFields(draft.extraFields);
  const ways = possibleCastlingRights(draft.squares);
  const box = (way: string) => {
    const title = (
      {
        K: translate('setup.castle.K'),
        Q: translate('setup.castle.Q'),
        k: translate('setup.castle.k'),
        q: translate('setup.castle.q'),
      } as Record<string, string>
    )[way];
    const field = checkbox(title ?? way, more.castling.includes(way), (isKept) => {
      const left = ['K', 'Q', 'k', 'q'].filter((other) =>
        other === way ? isKept : more.castling.includes(other),
      );
      choose(draft.withExtraFields({ ...more, castling: left.join('') }));
    });
    const input = field.querySelector('input');
    if (input) {
      input.disabled = !ways.includes(way);
      input.name = `castle-${way}`;
    }
    return field;
  };
  const fields = h('div', { class: 'castling' });
  replaceChildren(fields, ...['K', 'Q', 'k', 'q'].map(box));
  return h('fieldset', {}, h('legend', {}, translate('setup.castling')), fields);
}
