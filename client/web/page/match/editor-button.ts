// Link from a position of a finished match to the board editor.

import { h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { editorUrl } from '../editor/editor-url.ts';
import { icon } from '../app/header-toggles.ts';

import type { Match } from '../model/match.ts';

const ICON = 'M12 4H4v16h16v-8M4 12h8M12 20V12M20.500 4.500l-6 6-2 .500.500-2 6-6z';

export class EditorButton {
  element;

  constructor() {
    const label = translate('bar.setup');
    this.element = h(
      'a',
      { class: 'button', 'aria-label': label, title: label, href: '/setup', hidden: true },
      icon(ICON),
      h('span', { 'aria-hidden': true }, translate('bar.setup.short')),
    );
  }

  /**
   * @param shownPly the ply at which the board is shown
   * @param isOffline whether there is no server, which the editor needs to check positions
   */
  show(
    { game, status, positions, position, ply, you }: Match,
    shownPly: number,
    isOffline: boolean,
  ) {
    const shown = shownPly < ply ? positions[shownPly] : position;
    const isAvailable = status === 'ended' && shown !== undefined && !isOffline;
    // During a match, the player's draw button has this place. Spectators have no draw button: the
    // link stays invisible, but keeps its space.
    this.element.hidden = you !== null && status !== 'ended';
    this.element.classList.toggle('gone', !isAvailable);
    if (isAvailable) this.element.setAttribute('href', editorUrl(game, shown));
  }
}
