// Controls of the position editor: the pieces, the side to move and the castling rights.

import { checkbox, radio } from '../ui/form-controls.ts';
import { h } from '../ui/dom.ts';
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
const CASTLING_RIGHTS = ['K', 'Q', 'k', 'q'];

/** Radio buttons for the pieces and the eraser. */
export function piecePalette(
  game: Game,
  position: EditorPosition,
  chosen: string,
  choose: (piece: string) => void,
) {
  const { board } = position;
  const piece = (piece: string) =>
    withName(
      radio('piece', piece, piece === chosen, () => choose(piece), drawPieceIcon(board, piece)),
      board.pieceName(piece),
    );
  const erase = withName(
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

/** Names an option that only has an icon. */
function withName(label: HTMLElement, name: string) {
  label.title = name;
  label.querySelector('input')?.setAttribute('aria-label', name);
  return label;
}

export function turnPicker(
  game: Game,
  position: EditorPosition,
  choose: (position: EditorPosition) => void,
) {
  const { board } = position;
  const sides = game.sides.map((side, seat) =>
    radio(
      'turn',
      String(seat),
      seat === position.turn,
      () => choose(position.withTurn(seat)),
      drawSeatIcon(board, seat),
      h('span', {}, sideName(side)),
    ),
  );
  const isImplied = position.isTurnImplied;
  for (const side of sides) {
    const input = side.querySelector('input');
    if (input) input.disabled = isImplied;
  }
  return h(
    'fieldset',
    { class: 'turn' },
    h('legend', {}, translate('setup.turn')),
    h('div', { class: 'options' }, ...sides),
    isImplied && h('p', { class: 'note' }, translate('setup.turn.follows')),
  );
}

export function castlingPicker(
  position: EditorPosition,
  choose: (position: EditorPosition) => void,
) {
  const fenFields = toFenFields(position.extraFields);
  const possibleRights = possibleCastlingRights(position.squares);
  const rightCheckbox = (right: string) => {
    const title = (
      {
        K: translate('setup.castle.K'),
        Q: translate('setup.castle.Q'),
        k: translate('setup.castle.k'),
        q: translate('setup.castle.q'),
      } as Record<string, string>
    )[right];
    const field = checkbox(title ?? right, fenFields.castling.includes(right), (isChecked) => {
      const rights = CASTLING_RIGHTS.filter((other) =>
        other === right ? isChecked : fenFields.castling.includes(other),
      );
      choose(position.withExtraFields({ ...fenFields, castling: rights.join('') }));
    });
    const input = field.querySelector('input');
    if (input) {
      input.disabled = !possibleRights.includes(right);
      input.name = `castle-${right}`;
    }
    return field;
  };
  return h(
    'fieldset',
    {},
    h('legend', {}, translate('setup.castling')),
    h('div', { class: 'castling' }, ...CASTLING_RIGHTS.map(rightCheckbox)),
  );
}
