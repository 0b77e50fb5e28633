// What is agreed on beside the game: the clock, what happens if somebody leaves, and takebacks.

import { ClockPicker } from './clock-picker.ts';
import { select } from '../ui/form-controls.ts';
import { h } from '../ui/dom.ts';
import { capitalize, translate } from '../text/language.ts';
import { botName, hasRatings } from '../text/labels.ts';
import { isCorrespondenceClock } from './custom-clock.ts';
import { tryLoadLazyChunk } from '../app/lazy.ts';

import type { LobbyPrefs } from './lobby-prefs.ts';
import type { App } from '../app/main.ts';

export class MatchOptions {
  element;
  #picker;
  #choice;
  #leaving;
  #takebacks;
  #app;
  #rated = h('input', { type: 'checkbox' });
  #ratedField = h(
    'label',
    { class: 'check' },
    this.#rated,
    h('span', {}, translate('rated.label')),
  );
  #unrated = h('p', { class: 'note' }, translate('rated.none'));
  #choose;
  #watched = h('div');
  #watching = h(
    'details',
    { class: 'exhibition watched', ontoggle: () => void this.#showWatching() },
    h('summary', {}, translate('watch.title')),
    this.#watched,
  );

  constructor(
    app: App,
    choice: Partial<LobbyPrefs>,
    choose: (change: Partial<LobbyPrefs>) => void,
  ) {
    this.#app = app;
    this.#choice = choice;
    this.#choose = choose;
    this.#rated.checked = choice.rated === true;
    this.#rated.addEventListener('change', () => choose({ rated: this.#rated.checked }));
    const { isOffline: isAlone, welcome } = app.connection;
    // Without the server there are no clocks: which one is wanted with it stays chosen.
    const clocked = isAlone ? { ...choice, clock: '' } : choice;
    this.#picker = new ClockPicker(welcome?.clocks ?? [], clocked, choose);
    this.#leaving = select(
      translate('terms.leaving'),
      [
        { value: '', title: translate('terms.lose') },
        ...app.levels.map(({ level }) => {
          const bot = capitalize(botName(level, app.levels));
          return { value: level, title: translate('terms.bot', { bot }) };
        }),
      ],
      choice.standIn,
      (standIn) => choose({ standIn }),
    );
    this.#takebacks = select(
      translate('terms.takeback'),
      [
        { value: 'yes', title: translate('terms.agreed') },
        { value: 'no', title: translate('terms.never') },
      ],
      choice.takeback === false ? 'no' : 'yes',
      (wish) => choose({ takeback: wish === 'yes' }),
    );
    this.element = h(
      'fieldset',
      { class: 'terms' },
      h('legend', { class: 'unseen' }, translate('terms.title')),
      h(
        'div',
        { class: 'row fields' },
        !isAlone && this.#picker.field,
        this.#takebacks,
        !isAlone && this.#leaving,
      ),
      this.#ratedField,
      this.#unrated,
      !isAlone && this.#picker.customFields,
      !isAlone && this.#watching,
    );
  }

  /** Draws what depends on what is chosen. */
  show() {
    // Nobody need be there in a match of days.
    this.#leaving.hidden = this.isCorrespondence || this.isRated;
    this.#takebacks.hidden = this.isRated;
    this.#ratedField.hidden = !this.#mayBeRated;
    this.#unrated.hidden = this.#mayBeRated || !hasRatings(this.#app);
    void this.#showWatching();
  }

  /** Few choose who may watch: it comes when they do. */
  async #showWatching() {
    if (!this.#watching.open) return;
    const seldom = await tryLoadLazyChunk(this.#app);
    seldom?.renderSpectatorOptions(this.#watched, this.#choice, this.#choose, this);
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
  get isCorrespondence() {
    return isCorrespondenceClock(this.#picker.clock);
  }

  /** The clock; `undefined` if what was written is none, which is then told. */
  clock() {
    if (!this.#picker.validate()) return undefined;
    const { clock } = this.#picker;
    return clock ? { clock } : {};
  }

  /** The bot that plays on for whoever leaves. */
  get standIn() {
    const { standIn } = this.#choice;
    return standIn && !this.isCorrespondence && !this.isRated ? { stand_in: standIn } : {};
  }

  get takeback() {
    return { takeback: this.#choice.takeback !== false && !this.isRated };
  }

  /** What counts for ratings says so. */
  get rated() {
    return this.isRated ? { rated: true } : {};
  }

  /** Who may watch, and how much later, where that can be chosen. */
  get spectatorOptions() {
    const { watch = '', delay = 0 } = this.#choice;
    const isSeen = this.isRated || watch !== 'nobody';
    return {
      ...(watch !== '' && !this.isRated ? { watch } : {}),
      ...(delay > 0 && !this.isCorrespondence && isSeen ? { delay_ms: delay } : {}),
    };
  }
}
