// From a moment of a match that is over one goes on to set up another position.

import { h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { editorUrl } from '../actions/editor-link.ts';
import { icon } from '../app/header-toggles.ts';

import type { Match } from '../model/match.ts';

/** A board, and a pen. */
const BOARD = 'M12 4H4v16h16v-8M4 12h8M12 20V12M20.500 4.500l-6 6-2 .500.500-2 6-6z';

export class EditorButton {
  element;

  constructor() {
    const label = translate('bar.setup');
    this.element = h(
      'a',
      { class: 'button', 'aria-label': label, title: label, href: '/setup', hidden: true },
      icon(BOARD),
      h('span', { 'aria-hidden': true }, translate('bar.setup.short')),
    );
  }

  /**
   * @param shown after how many moves the board is shown
   * @param isAlone whether there is no server, which is asked about what is set up
   */
  show(
    { game, status, positions: past, position, ply, you }: Match,
    shown: number,
    isAlone: boolean,
  ) {
    const at = shown < ply ? past[shown] : position;
    const isOver = status === 'ended' && at !== undefined && !isAlone;
    // Where somebody plays, another button has its place; whoever watches sees nothing move.
    this.element.hidden = you !== null && status !== 'ended';
    this.element.classList.toggle('gone', !isOver);
    if (isOver) this.element.setAttribute('href', editorUrl(game, at));
  }
}
