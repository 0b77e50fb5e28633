// What can be done in a match beside moving: share it, resign, come back to now, play again.

import { firstLevel, recallChoice } from './choice.js';
import { fill, firstControl, h } from './dom.js';
import { Rematch } from './rematch.js';
import { shareCard } from './share.js';
import { occupant } from './words.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

const AGAIN = 'Play again, sides swapped';

export class Actions {
  element = h('div', {
    class: 'actions',
    // A key that is held would go on to what comes in place of the button.
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.repeat && event.key === 'Enter') event.preventDefault();
    },
  });
  #app;
  #backToNow;
  /** @type {Rematch | null} */
  #rematch = null;
  /** What the buttons were made from; made anew, they would lose the focus. */
  #madeFrom = '';

  /**
   * @param {App} app
   * @param {() => void} backToNow
   */
  constructor(app, backToNow) {
    this.#app = app;
    this.#backToNow = backToNow;
  }

  leave() {
    this.#rematch?.stop();
  }

  /**
   * @param {Match} match
   * @param {boolean} now whether the board is shown as it is now
   */
  show(match, now) {
    const { you, status, host, seats } = match;
    this.#prepareRematch(match);
    const offer = this.#rematch?.offer?.match;
    const madeFrom = JSON.stringify([
      status,
      you,
      host,
      offer,
      this.#rematch?.isAlone,
      this.#app.invited.get(match.match),
      now,
      seats.map((seat) => seat.occupant),
    ]);
    if (this.#madeFrom === madeFrom) return;
    this.#madeFrom = madeFrom;
    const hadFocus = this.element.contains(document.activeElement);
    const back = !now && button('Back to now', 'primary', this.#backToNow);
    switch (status) {
      case 'open':
        fill(
          this.element,
          shareCard(this.#app, match, recallChoice().level ?? firstLevel(this.#app.levels)),
        );
        break;
      case 'running':
        fill(this.element, back, you !== null && this.#resign(match));
        break;
      case 'ended':
        fill(this.element, back, ...this.#afterwards(match));
    }
    // Whoever has just resigned by keyboard goes on from here.
    if (hadFocus) firstControl(this.element)?.focus();
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

  /** @param {Match} match */
  #resign(match) {
    const place = h('div', { class: 'row' });
    const offer = () => fill(place, button('Resign …', '', ask));
    const ask = () => {
      const stay = button('Play on', '', () => {
        offer();
        place.querySelector('button')?.focus();
      });
      const resign = button('Resign', 'danger', () => {
        void this.#app.ask({ type: 'resign', match: match.match });
      });
      const question = h('p', { class: 'question' }, 'Give up this match?');
      const onkeydown = (/** @type {KeyboardEvent} */ { key }) => key === 'Escape' && stay.click();
      fill(place, h('div', { class: 'row', onkeydown }, question, resign, stay));
      stay.focus();
    };
    offer();
    return place;
  }
}

/** @param {string} text @param {string} look @param {() => void} onclick */
const button = (text, look, onclick) => h('button', { type: 'button', class: look, onclick }, text);
