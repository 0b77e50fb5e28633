// What is agreed on beside the game: the clock, what happens if somebody leaves, and takebacks.

import { ClockPicker } from './clock-picker.ts';
import { select } from '../ui/controls.ts';
import { h } from '../ui/dom.ts';
import { capital, say } from '../text/language.ts';
import { botWord, hasRatings } from '../text/labels.ts';
import { isOfDays } from './custom-clock.ts';
import { come } from '../app/lazy.ts';

import type { Choice } from './lobby-prefs.ts';
import type { App } from '../app/main.ts';

export class Terms {
  element;
  #picker;
  #choice;
  #leaving;
  #takebacks;
  #app;
  #rated = h('input', { type: 'checkbox' });
  #ratedField = h('label', { class: 'check' }, this.#rated, h('span', {}, say('rated.label')));
  #unrated = h('p', { class: 'note' }, say('rated.none'));
  #choose;
  #watched = h('div');
  #watching = h(
    'details',
    { class: 'exhibition watched', ontoggle: () => void this.#showWatching() },
    h('summary', {}, say('watch.title')),
    this.#watched,
  );

  constructor(app: App, choice: Partial<Choice>, choose: (change: Partial<Choice>) => void) {
    this.#app = app;
    this.#choice = choice;
    this.#choose = choose;
    this.#rated.checked = choice.rated === true;
    this.#rated.addEventListener('change', () => choose({ rated: this.#rated.checked }));
    const { isAlone, welcome } = app.connection;
    // Without the server there are no clocks: which one is wanted with it stays chosen.
    const clocked = isAlone ? { ...choice, clock: '' } : choice;
    this.#picker = new ClockPicker(welcome?.clocks ?? [], clocked, choose);
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
    this.#takebacks = select(
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
      h(
        'div',
        { class: 'row fields' },
        !isAlone && this.#picker.field,
        this.#takebacks,
        !isAlone && this.#leaving,
      ),
      this.#ratedField,
      this.#unrated,
      !isAlone && this.#picker.own,
      !isAlone && this.#watching,
    );
  }

  /** Draws what depends on what is chosen. */
  show() {
    // Nobody need be there in a match of days.
    this.#leaving.hidden = this.isOfDays || this.isRated;
    this.#takebacks.hidden = this.isRated;
    this.#ratedField.hidden = !this.#mayBeRated;
    this.#unrated.hidden = this.#mayBeRated || !hasRatings(this.#app);
    void this.#showWatching();
  }

  /** Few choose who may watch: it comes when they do. */
  async #showWatching() {
    if (!this.#watching.open) return;
    const seldom = await come(this.#app);
    seldom?.drawWatching(this.#watched, this.#choice, this.#choose, this);
  }

  /** What counts for ratings is played by accounts, and by the clock. */
  get #mayBeRated() {
    return Boolean(this.#app.player?.account) && this.#picker.clock !== null;
  }

  /** Whether it counts for ratings. */
  get isRated() {
    return this.#mayBeRated && this.#choice.rated === true;
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
    return standIn && !this.isOfDays && !this.isRated ? { stand_in: standIn } : {};
  }

  get takeback() {
    return { takeback: this.#choice.takeback !== false && !this.isRated };
  }

  /** What counts for ratings says so. */
  get rated() {
    return this.isRated ? { rated: true } : {};
  }

  /** Who may watch, and how much later, where that can be chosen. */
  get watching() {
    const { watch = '', delay = 0 } = this.#choice;
    const isSeen = this.isRated || watch !== 'nobody';
    return {
      ...(watch !== '' && !this.isRated ? { watch } : {}),
      ...(delay > 0 && !this.isOfDays && isSeen ? { delay_ms: delay } : {}),
    };
  }
}
