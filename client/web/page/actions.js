// What can be done in a match beside moving: share it, answer an offer, give it up, come back to now,
// play again.

import { Answers } from './answers.js';
import { Bar } from './bar.js';
import { firstLevel, recallChoice } from './choice.js';
import { fill, h } from './dom.js';
import { GiveUp } from './giveup.js';
import { shareCard } from './share.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

export class Actions {
  element;
  answers;
  #app;
  #bar;
  #giveUp;
  /** What there is before the start and after the end. */
  #apart = h('div', {
    class: 'row apart',
    // A key that is held would go on to what comes in place of the button.
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.repeat && event.key === 'Enter') event.preventDefault();
    },
  });
  #back;
  /** What the buttons were made from; made anew, they would lose the focus. */
  #madeFrom = '';

  /**
   * @param {App} app
   * @param {{ backToNow: () => void, turn: () => void }} does
   */
  constructor(app, { backToNow, turn }) {
    this.#app = app;
    this.answers = new Answers(app);
    this.#giveUp = new GiveUp(app);
    this.#bar = new Bar(app, { giveUp: () => this.#giveUp.ask(), turn });
    this.#back = button('Back to now', 'primary', backToNow);
    const slot = h(
      'div',
      { class: 'slot' },
      this.answers.element,
      this.#giveUp.element,
      this.#back,
    );
    this.element = h('div', { class: 'actions' }, this.#bar.element, slot, this.#apart);
  }

  /**
   * @param {Match} match
   * @param {boolean} now whether the board is shown as it is now
   * @param {boolean} isTurned whether it has been turned around
   */
  show(match, now, isTurned) {
    const { status } = match;
    const hadFocus = this.element.contains(document.activeElement);
    this.#back.hidden = now;
    const { you } = match;
    this.element.classList.toggle('plays', you !== null && status !== 'open');
    this.answers.show(match);
    this.#giveUp.show(match);
    this.#bar.element.hidden = status === 'open';
    this.#bar.show(match, isTurned);
    this.#showApart(match);
    // Whoever has just resigned by keyboard goes on from here.
    const isLost = !this.element.contains(document.activeElement);
    if (hadFocus && (isLost || document.activeElement?.closest('[hidden]'))) this.#bar.focusAgain();
  }

  /** @param {Match} match */
  #showApart(match) {
    const { you, status, host, seats, rematch } = match;
    const next = you === null ? rematch?.next : null;
    const occupants = seats.map((seat) => seat.occupant);
    const madeFrom = JSON.stringify([status, you, host, next, occupants]);
    if (this.#madeFrom === madeFrom) return;
    this.#madeFrom = madeFrom;
    const level = recallChoice().level ?? firstLevel(this.#app.levels);
    if (status === 'open') fill(this.#apart, shareCard(this.#app, match, level));
    else if (status === 'ended') fill(this.#apart, next && theyGoOn(next.code), toLobby());
    else fill(this.#apart);
  }
}

const toLobby = () => h('a', { class: 'button', href: '/' }, 'To the lobby');

/** @param {string} code */
const theyGoOn = (code) =>
  h('a', { class: 'button primary', href: `/m/${code}` }, 'Watch their next match');

/** @param {string} text @param {string} look @param {() => void} onclick */
const button = (text, look, onclick) => h('button', { type: 'button', class: look, onclick }, text);
