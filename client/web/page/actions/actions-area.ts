// Combines the controls of a match: action bar, offers, resign dialog, share card, and the buttons
// that return to the current position or play on.

import { OfferPrompts } from './offers.ts';
import { ActionBar } from './action-bar.ts';
import { defaultLevel, loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { ResignDialog } from './resign-dialog.ts';
import { translate } from '../text/language.ts';
import { playFromPosition, playablePosition } from '../match/play-from-position.ts';
import { shareCard } from '../match/share.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export class ActionsArea {
  element;
  /** Offers and navigation buttons, shown beside the status. */
  prompts;
  offerPrompts;
  #app;
  #bar;
  #resignDialog;
  /** Holds the share card until the match starts. */
  #shareContainer = h('div', {
    class: 'row apart',
    // A held Enter key must not click the button that replaces the pressed one.
    onkeydown: (event: KeyboardEvent) => {
      if (event.repeat && event.key === 'Enter') event.preventDefault();
    },
  });
  #toCurrent;
  #playOn;
  #shown: { match: Match; ply: number } | null = null;
  /** Leads spectators to the rematch. */
  #toRematch = h('a', { class: 'button primary', hidden: true }, translate('actions.next'));
  /** State that the share card was rendered for. Rendering it again would lose the focus. */
  #shareKey = '';

  constructor(
    app: App,
    {
      goToCurrent,
      ...barOptions
    }: {
      goToCurrent: () => void;
      flip: () => void;
      showBestMove: (move: string) => void;
      moveButtons: HTMLElement;
      analyseButton: HTMLElement;
    },
  ) {
    this.#app = app;
    this.offerPrompts = new OfferPrompts(app);
    this.#resignDialog = new ResignDialog(app);
    this.#bar = new ActionBar(app, {
      openResignDialog: () => this.#resignDialog.open(),
      ...barOptions,
    });
    this.#toCurrent = button(translate('actions.now'), 'primary', goToCurrent);
    this.#playOn = button(translate('actions.playOn'), 'onward', () => this.playFromPosition());
    this.prompts = h(
      'div',
      { class: 'asked' },
      this.offerPrompts.element,
      this.#toRematch,
      this.#toCurrent,
      this.#playOn,
    );
    this.element = h(
      'div',
      { class: 'actions' },
      this.#bar.element,
      this.#resignDialog.element,
      this.#shareContainer,
    );
  }

  unmount() {
    this.#bar.unmount();
  }

  playFromPosition() {
    if (this.#shown) void playFromPosition(this.#app, this.#shown.match, this.#shown.ply);
  }

  playAgain() {
    this.#bar.playAgain();
  }

  playAgainOption(match: Match) {
    return this.#bar.playAgainOption(match);
  }

  /**
   * @param shown the ply at which the board is shown
   * @param isCurrent whether that is the current position
   */
  show(match: Match, shownPly: number, isCurrent: boolean, isFlipped: boolean) {
    const { status, you, rematch } = match;
    const hadFocus = this.element.contains(document.activeElement);
    this.#toCurrent.hidden = isCurrent;
    this.#shown = { match, ply: shownPly };
    const { isOffline } = this.#app.connection;
    this.#playOn.hidden =
      isOffline || playablePosition(match, shownPly) === null || match.ply === 0;
    const next = you === null ? rematch?.next : null;
    this.#toRematch.hidden = !next;
    if (next) this.#toRematch.setAttribute('href', `/m/${next.code}`);
    this.offerPrompts.show(match);
    this.#resignDialog.show(match);
    this.#bar.element.hidden = status === 'open';
    this.#bar.show(match, isFlipped, shownPly);
    this.#showShareCard(match);
    // If the focused control has disappeared, for example after a resignation, keyboard users
    // continue here.
    const lostFocus = !this.element.contains(document.activeElement);
    if (hadFocus && (lostFocus || document.activeElement?.closest('[hidden]')))
      this.#bar.focusPlayAgain();
  }

  #showShareCard(match: Match) {
    const { you, status, host, seats } = match;
    const occupants = seats.map((seat) => seat.occupant);
    const shareKey = JSON.stringify([status, you, host, occupants]);
    if (this.#shareKey === shareKey) return;
    this.#shareKey = shareKey;
    const level = loadLobbyPrefs().level ?? defaultLevel(this.#app.levels);
    if (status === 'open')
      replaceChildren(this.#shareContainer, shareCard(this.#app, match, level));
    else replaceChildren(this.#shareContainer);
  }
}

const button = (text: string, className: string, onclick: () => void) =>
  h('button', { type: 'button', class: className, onclick }, text);
