// What is agreed on beside the game: the clock, what happens if somebody leaves, and takebacks.

import { ClockPicker } from './clock-picker.js';
import { select } from './controls.js';
import { h } from './dom.js';
import { capital, say } from './language.js';
import { botWord } from './naming.js';
import { isOfDays } from './own-clock.js';

/** @import { Choice } from './choice.js' */
/** @import { App } from './main.js' */

export class Terms {
  element;
  #picker;
  #choice;
  #leaving;

  /**
   * @param {App} app
   * @param {Partial<Choice>} choice
   * @param {(change: Partial<Choice>) => void} choose
   */
  constructor(app, choice, choose) {
    this.#choice = choice;
    this.#picker = new ClockPicker(app.connection.welcome?.clocks ?? [], choice, choose);
    this.#leaving = select(
      say('terms.leaving'),
      [
        { value: '', title: say('terms.lose') },
        ...app.levels.map(({ level }) => {
          const bot = capital(botWord(level, app.levels));
          return { value: level, title: say('terms.bot', { bot }) };
        }),
      ],
      choice.standIn,
      (standIn) => choose({ standIn }),
    );
    const takebacks = select(
      say('terms.takeback'),
      [
        { value: 'yes', title: say('terms.agreed') },
        { value: 'no', title: say('terms.never') },
      ],
      choice.takeback === false ? 'no' : 'yes',
      (wish) => choose({ takeback: wish === 'yes' }),
    );
    this.element = h(
      'fieldset',
      { class: 'terms' },
      h('legend', { class: 'unseen' }, say('terms.title')),
      h('div', { class: 'row fields' }, this.#picker.field, takebacks, this.#leaving),
      this.#picker.own,
    );
  }

  /** Draws what depends on what is chosen. */
  show() {
    // Nobody need be there in a match of days.
    this.#leaving.hidden = this.isOfDays;
  }

  /** Whether the match would be one of days. */
  get isOfDays() {
    return isOfDays(this.#picker.clock);
  }

  /** The clock; `undefined` if what was written is none, which is then told. */
  clock() {
    if (!this.#picker.check()) return undefined;
    const { clock } = this.#picker;
    return clock ? { clock } : {};
  }

  /** The bot that plays on for whoever leaves. */
  get standIn() {
    const { standIn } = this.#choice;
    return standIn && !this.isOfDays ? { stand_in: standIn } : {};
  }

  get takeback() {
    return { takeback: this.#choice.takeback !== false };
  }
}
