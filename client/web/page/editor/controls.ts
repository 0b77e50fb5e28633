// What one sets up a position with, beside the board: the pieces to be put on it, and whose turn it is.

import { checkbox, radio } from '../ui/controls.ts';
import { fill, h } from '../ui/dom.ts';
import { EMPTY } from '../model/fen.ts';
import { say } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { iconOf, pieceIcon } from '../board/piece.ts';
import { icon } from '../app/header-toggles.ts';
import { mayCastle, moreOf } from './notation/chess.ts';
import { notationOf } from './notation/notations.ts';

import type { Game } from '../net/protocol.ts';
import type { Draft } from './draft.ts';

const CROSS = 'M6 6l12 12M18 6 6 18';

/** The pieces, one of which is chosen, and what takes them away. */
export function palette(game: Game, draft: Draft, chosen: string, choose: (piece: string) => void) {
  const { board } = draft;
  const piece = (piece: string) =>
    named(
      radio('piece', piece, piece === chosen, () => choose(piece), iconOf(board, piece)),
      board.called(piece),
    );
  const erase = named(
    radio('piece', EMPTY, chosen === EMPTY, () => choose(EMPTY), icon(CROSS)),
    say('setup.erase'),
  );
  const pieces = notationOf(game.game).pieces(game).map(piece);
  return h(
    'fieldset',
    { class: `palette for-${game.game}` },
    h('legend', { class: 'unseen' }, say('setup.pieces')),
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
export function turnPicker(game: Game, draft: Draft, choose: (draft: Draft) => void) {
  const { board } = draft;
  const sides = game.sides.map((side, seat) =>
    radio(
      'turn',
      String(seat),
      seat === draft.turn,
      () => choose(draft.withTurn(seat)),
      pieceIcon(board, seat),
      h('span', {}, sideName(side)),
    ),
  );
  const follows = draft.turnFollows;
  for (const side of sides) {
    const input = side.querySelector('input');
    if (input) input.disabled = follows;
  }
  return h(
    'fieldset',
    { class: 'turn' },
    h('legend', {}, say('setup.turn')),
    h('div', { class: 'options' }, ...sides),
    follows && h('p', { class: 'note' }, say('setup.turn.follows')),
  );
}

/** Which ways to castle are left. */
export function castling(draft: Draft, choose: (draft: Draft) => void) {
  const more = moreOf(draft.more);
  const ways = mayCastle(draft.squares);
  const box = (way: string) => {
    const title = (
      {
        K: say('setup.castle.K'),
        Q: say('setup.castle.Q'),
        k: say('setup.castle.k'),
        q: say('setup.castle.q'),
      } as Record<string, string>
    )[way];
    const field = checkbox(title ?? way, more.castling.includes(way), (isKept) => {
      const left = ['K', 'Q', 'k', 'q'].filter((other) =>
        other === way ? isKept : more.castling.includes(other),
      );
      choose(draft.withMore({ ...more, castling: left.join('') }));
    });
    const input = field.querySelector('input');
    if (input) {
      input.disabled = !ways.includes(way);
      input.name = `castle-${way}`;
    }
    return field;
  };
  const fields = h('div', { class: 'castling' });
  fill(fields, ...['K', 'Q', 'k', 'q'].map(box));
  return h('fieldset', {}, h('legend', {}, say('setup.castling')), fields);
}
