// A dialog that asks which of a few moves is meant, where they go over the same squares.

import { h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { drawPieceIcon } from './piece.ts';

import type { MoveChoice } from '../model/game-conventions.ts';
import type { Board } from '../model/position.ts';

export interface DialogOption {
  move: string;
  title: string;
  icon: Node | null;
}

/** Asks, and gives the move that is chosen; none, if the dialog is left or the question is withdrawn. */
function choose(
  question: string,
  offers: DialogOption[],
  withdrawn: AbortSignal,
): Promise<string | null> {
  const dialog = h('dialog', { class: 'choosing', 'aria-labelledby': 'choosing-title' });
  dialog.append(
    h('h2', { id: 'choosing-title' }, question),
    h(
      'div',
      { class: 'offers' },
      ...offers.map(({ move, title, icon: drawn }) =>
        h('button', { type: 'button', onclick: () => dialog.close(move) }, drawn, title),
      ),
    ),
    h(
      'button',
      { type: 'button', class: 'quiet', onclick: () => dialog.close() },
      translate('dialog.cancel'),
    ),
  );
  // Beside it means to leave it.
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
  withdrawn.addEventListener('abort', () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue || null);
    });
  });
}

/**
 * Asks which of several moves is meant that look alike until one says what becomes of the piece.
 * @param withdrawn when there is no such choice any more
 */
export const chooseMove = (choices: MoveChoice[], board: Board, withdrawn: AbortSignal) =>
  choose(
    translate('move.which'),
    choices.map(({ move, title, piece }) => {
      return { move, title, icon: piece ? drawPieceIcon(board, piece) : null };
    }),
    withdrawn,
  );
