// What can be done in a match beside moving: share it, answer an offer, give it up, come back to now,
// play again.

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

export class MatchActions {
  element;
  /** What is asked and answered, beside how the match stands. */
  prompts;
  offerPrompts;
  #app;
  #bar;
  #giveUp;
  /** What there is before the start. */
  #apart = h('div', {
    class: 'row apart',
    // A key that is held would go on to what comes in place of the button.
    onkeydown: (event: KeyboardEvent) => {
      if (event.repeat && event.key === 'Enter') event.preventDefault();
    },
  });
  #back;
  #on;
  /** What is shown. */
  #seen: { match: Match; shown: number } | null = null;
  /** Where those whom one has watched go on. */
  #next = h('a', { class: 'button primary', hidden: true }, translate('actions.next'));
  /** What the buttons were made from; made anew, they would lose the focus. */
  #madeFrom = '';

  constructor(
    app: App,
    {
      goToCurrent: backToNow,
      ...does
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
    this.#giveUp = new ResignDialog(app);
    this.#bar = new ActionBar(app, { openResignDialog: () => this.#giveUp.open(), ...does });
    this.#back = button(translate('actions.now'), 'primary', backToNow);
    this.#on = button(translate('actions.playOn'), 'onward', () => this.playFromPosition());
    this.prompts = h(
      'div',
      { class: 'asked' },
      this.offerPrompts.element,
      this.#next,
      this.#back,
      this.#on,
    );
    this.element = h(
      'div',
      { class: 'actions' },
      this.#bar.element,
      this.#giveUp.element,
      this.#apart,
    );
  }

  /** Counts no more. */
  unmount() {
    this.#bar.unmount();
  }

  /** Plays on from the position that is shown. */
  playFromPosition() {
    if (this.#seen) void playFromPosition(this.#app, this.#seen.match, this.#seen.shown);
  }

  /** Plays again, as the bar would. */
  playAgain() {
    this.#bar.playAgain();
  }

  /** What can be played next, and why it cannot be now; `null` if nothing. */
  playAgainOption(match: Match) {
    return this.#bar.playAgainOption(match);
  }

  /**
   * @param shown after how many moves the board is shown
   * @param now whether that is as it is now
   * @param isTurned whether it has been turned around
   */
  show(match: Match, shown: number, now: boolean, isTurned: boolean) {
    const { status, you, rematch } = match;
    const hadFocus = this.element.contains(document.activeElement);
    this.#back.hidden = now;
    this.#seen = { match, shown };
    const { isOffline: isAlone } = this.#app.connection;
    this.#on.hidden = isAlone || playablePosition(match, shown) === null || match.ply === 0;
    const next = you === null ? rematch?.next : null;
    this.#next.hidden = !next;
    if (next) this.#next.setAttribute('href', `/m/${next.code}`);
    this.offerPrompts.show(match);
    this.#giveUp.show(match);
    this.#bar.element.hidden = status === 'open';
    this.#bar.show(match, isTurned, shown);
    this.#showApart(match);
    // Whoever has just resigned by keyboard goes on from here.
    const isLost = !this.element.contains(document.activeElement);
    if (hadFocus && (isLost || document.activeElement?.closest('[hidden]')))
      this.#bar.focusPlayAgain();
  }

  #showApart(match: Match) {
    const { you, status, host, seats } = match;
    const occupants = seats.map((seat) => seat.occupant);
    const madeFrom = JSON.stringify([status, you, host, occupants]);
    if (this.#madeFrom === madeFrom) return;
    this.#madeFrom = madeFrom;
    const level = loadLobbyPrefs().level ?? defaultLevel(this.#app.levels);
    if (status === 'open') replaceChildren(this.#apart, shareCard(this.#app, match, level));
    else replaceChildren(this.#apart);
  }
}

const button = (text: string, look: string, onclick: () => void) =>
  h('button', { type: 'button', class: look, onclick }, text);
