// Dialog for a choice between several moves over the same squares, such as promotions.

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

/**
 * Opens the dialog and resolves to the chosen move, or to `null` if the dialog is closed or
 * aborted.
 */
function choose(
  question: string,
  options: DialogOption[],
  signal: AbortSignal,
): Promise<string | null> {
  const dialog = h('dialog', { class: 'choosing', 'aria-labelledby': 'choosing-title' });
  dialog.append(
    h('h2', { id: 'choosing-title' }, question),
    h(
      'div',
      { class: 'offers' },
      ...options.map(({ move, title, icon }) =>
        h('button', { type: 'button', onclick: () => dialog.close(move) }, icon, title),
      ),
    ),
    h(
      'button',
      { type: 'button', class: 'quiet', onclick: () => dialog.close() },
      translate('dialog.cancel'),
    ),
  );
  // A click on the backdrop closes the dialog.
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
  signal.addEventListener('abort', () => dialog.close());
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
 * Asks the user to choose one of several moves.
 * @param signal closes the dialog when the choice is obsolete
 */
export const chooseMove = (choices: MoveChoice[], board: Board, signal: AbortSignal) =>
  choose(
    translate('move.which'),
    choices.map(({ move, title, piece }) => ({
      move,
      title,
      icon: piece ? drawPieceIcon(board, piece) : null,
    })),
    signal,
  );
