// What can be done in a match beside moving: share it, answer an offer, give it up, come back to now,
// play again.

import { Answers } from './offers.ts';
import { Bar } from './action-bar.ts';
import { firstLevel, recallChoice } from '../lobby/lobby-prefs.ts';
import { fill, h } from '../ui/dom.ts';
import { GiveUp } from './resign-dialog.ts';
import { say } from '../text/language.ts';
import { playOn, positionFrom } from '../match/play-from-position.ts';
import { shareCard } from '../match/share.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export class Actions {
  element;
  /** What is asked and answered, beside how the match stands. */
  lower;
  answers;
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
  #next = h('a', { class: 'button primary', hidden: true }, say('actions.next'));
  /** What the buttons were made from; made anew, they would lose the focus. */
  #madeFrom = '';

  constructor(
    app: App,
    {
      backToNow,
      ...does
    }: {
      backToNow: () => void;
      turn: () => void;
      advise: (move: string) => void;
      others: HTMLElement;
      analyse: HTMLElement;
    },
  ) {
    this.#app = app;
    this.answers = new Answers(app);
    this.#giveUp = new GiveUp(app);
    this.#bar = new Bar(app, { giveUp: () => this.#giveUp.ask(), ...does });
    this.#back = button(say('actions.now'), 'primary', backToNow);
    this.#on = button(say('actions.playOn'), 'onward', () => this.playOn());
    this.lower = h(
      'div',
      { class: 'asked' },
      this.answers.element,
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
  leave() {
    this.#bar.leave();
  }

  /** Plays on from the position that is shown. */
  playOn() {
    if (this.#seen) void playOn(this.#app, this.#seen.match, this.#seen.shown);
  }

  /** Plays again, as the bar would. */
  again() {
    this.#bar.playAgain();
  }

  /** What can be played next, and why it cannot be now; `null` if nothing. */
  next(match: Match) {
    return this.#bar.next(match);
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
    const { isAlone } = this.#app.connection;
    this.#on.hidden = isAlone || positionFrom(match, shown) === null || match.ply === 0;
    const next = you === null ? rematch?.next : null;
    this.#next.hidden = !next;
    if (next) this.#next.setAttribute('href', `/m/${next.code}`);
    this.answers.show(match);
    this.#giveUp.show(match);
    this.#bar.element.hidden = status === 'open';
    this.#bar.show(match, isTurned, shown);
    this.#showApart(match);
    // Whoever has just resigned by keyboard goes on from here.
    const isLost = !this.element.contains(document.activeElement);
    if (hadFocus && (isLost || document.activeElement?.closest('[hidden]'))) this.#bar.focusAgain();
  }

  #showApart(match: Match) {
    const { you, status, host, seats } = match;
    const occupants = seats.map((seat) => seat.occupant);
    const madeFrom = JSON.stringify([status, you, host, occupants]);
    if (this.#madeFrom === madeFrom) return;
    this.#madeFrom = madeFrom;
    const level = recallChoice().level ?? firstLevel(this.#app.levels);
    if (status === 'open') fill(this.#apart, shareCard(this.#app, match, level));
    else fill(this.#apart);
  }
}

const button = (text: string, look: string, onclick: () => void) =>
  h('button', { type: 'button', class: look, onclick }, text);
