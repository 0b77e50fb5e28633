// What can be done in a match beside moving: share it, answer an offer, give it up, come back to now,
// play again.

import { Answers } from './answers.js';
import { Bar } from './bar.js';
import { firstLevel, recallChoice } from './choice.js';
import { fill, firstControl, h } from './dom.js';
import { GiveUp } from './giveup.js';
import { Rematch } from './rematch.js';
import { shareCard } from './share.js';
import { occupant } from './words.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

const AGAIN = 'Play again, sides swapped';

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
  /** @type {Rematch | null} */
  #rematch = null;
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
    this.element = h('div', { class: 'actions' }, this.#apart, slot, this.#bar.element);
  }

  leave() {
    this.#rematch?.stop();
  }

  /**
   * @param {Match} match
   * @param {boolean} now whether the board is shown as it is now
   * @param {boolean} isTurned whether it has been turned around
   */
  show(match, now, isTurned) {
    const { status } = match;
    const hadFocus = this.element.contains(document.activeElement);
    this.#prepareRematch(match);
    this.#back.hidden = now;
    this.answers.show(match);
    this.#giveUp.show(match);
    this.#bar.element.hidden = status === 'open';
    this.#bar.show(match, isTurned);
    this.#showApart(match);
    // Whoever has just resigned by keyboard goes on from here.
    const isLost = hadFocus && !this.element.contains(document.activeElement);
    if (isLost || (hadFocus && document.activeElement?.closest('.kept, [hidden]'))) {
      firstControl(this.#apart)?.focus();
    }
  }

  /** @param {Match} match */
  #showApart(match) {
    const { you, status, host, seats } = match;
    const madeFrom = JSON.stringify([
      ...[status, you, host, this.#rematch?.offer?.match, this.#rematch?.isAlone],
      this.#app.invited.get(match.match),
      seats.map((seat) => seat.occupant),
    ]);
    if (this.#madeFrom === madeFrom) return;
    this.#madeFrom = madeFrom;
    const level = recallChoice().level ?? firstLevel(this.#app.levels);
    if (status === 'open') fill(this.#apart, shareCard(this.#app, match, level));
    else fill(this.#apart, ...(status === 'ended' ? this.#afterwards(match) : []));
  }
  /** @param {Match} match */
  #prepareRematch(match) {
    const exhibition = match.seats.every(({ occupant }) => occupant === 'bot');
    // Called off before somebody came: there is nobody to play with again.
    if (match.seats.some(({ occupant }) => occupant === 'open')) return;
    if (match.status === 'open' || (match.you === null && !exhibition)) return;
    this.#rematch ??= new Rematch(this.#app, match, () => {
      if (this.#rematch?.offer) this.#app.announce(this.#invitation(match));
      this.#app.update();
    });
    this.#rematch.follow(match);
  }

  /** @param {Match} match */
  #invitation(match) {
    const other = match.seats[1 - (match.you ?? 0)];
    const name = other ? occupant(other, this.#app.levels) : '';
    return `${name} wants to play again, sides swapped.`;
  }

  /** @param {Match} match */
  #afterwards(match) {
    const rematch = this.#rematch;
    const start = () => void rematch?.start();
    const again = rematch?.offer
      ? [h('p', { class: 'offer' }, this.#invitation(match)), button('Join', 'primary', start)]
      : [
          rematch &&
            button(rematch.isAlone ? 'New invitation, sides swapped' : AGAIN, 'primary', start),
        ];
    return [...again, h('a', { class: 'button', href: '/' }, 'To the lobby')];
  }
}

/** @param {string} text @param {string} look @param {() => void} onclick */
const button = (text, look, onclick) => h('button', { type: 'button', class: look, onclick }, text);
