// Options of a new match: clock, takebacks, stand-in bot, rating and spectators.

import { ClockPicker } from './clock-picker.ts';
import { select } from '../ui/form-controls.ts';
import { h } from '../ui/dom.ts';
import { capitalize, translate } from '../text/language.ts';
import { botName, hasRatings } from '../text/labels.ts';
import { isCorrespondenceClock } from '../model/clocks.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { LobbyPrefs } from './lobby-prefs.ts';
import type { App } from '../app/main.ts';

export class MatchOptions {
  element;
  #clockPicker;
  #prefs;
  #standInSelect;
  #takebackSelect;
  #app;
  #ratedCheckbox = h('input', { type: 'checkbox' });
  #ratedField = h(
    'label',
    { class: 'check' },
    this.#ratedCheckbox,
    h('span', {}, translate('rated.label')),
  );
  #unratedNote = h('p', { class: 'note' }, translate('rated.none'));
  #onChange;
  #spectatorFields = h('div');
  #spectatorDetails = h(
    'details',
    { class: 'exhibition watched', ontoggle: () => void this.#drawSpectatorFields() },
    h('summary', {}, translate('watch.title')),
    this.#spectatorFields,
  );

  constructor(
    app: App,
    prefs: Partial<LobbyPrefs>,
    onChange: (change: Partial<LobbyPrefs>) => void,
  ) {
    this.#app = app;
    this.#prefs = prefs;
    this.#onChange = onChange;
    this.#ratedCheckbox.checked = prefs.rated === true;
    this.#ratedCheckbox.addEventListener('change', () =>
      onChange({ rated: this.#ratedCheckbox.checked }),
    );
    const { isOffline, welcome } = app.connection;
    // Offline games have no clock. The copy leaves the stored choice unchanged.
    const clockPrefs = isOffline ? { ...prefs, clock: '' } : prefs;
    this.#clockPicker = new ClockPicker(welcome?.clocks ?? [], clockPrefs, onChange);
    this.#standInSelect = select(
      translate('terms.leaving'),
      [
        { value: '', title: translate('terms.lose') },
        ...app.levels.map(({ level }) => {
          const bot = capitalize(botName(level, app.levels));
          return { value: level, title: translate('terms.bot', { bot }) };
        }),
      ],
      prefs.standIn,
      (standIn) => onChange({ standIn }),
    );
    this.#takebackSelect = select(
      translate('terms.takeback'),
      [
        { value: 'yes', title: translate('terms.agreed') },
        { value: 'no', title: translate('terms.never') },
      ],
      prefs.takeback === false ? 'no' : 'yes',
      (value) => onChange({ takeback: value === 'yes' }),
    );
    this.element = h(
      'fieldset',
      { class: 'terms' },
      h('legend', { class: 'unseen' }, translate('terms.title')),
      h(
        'div',
        { class: 'row fields' },
        !isOffline && this.#clockPicker.field,
        this.#takebackSelect,
        !isOffline && this.#standInSelect,
      ),
      this.#ratedField,
      this.#unratedNote,
      !isOffline && this.#clockPicker.customFields,
      !isOffline && this.#spectatorDetails,
    );
  }

  /** Updates the fields that depend on other options. */
  show() {
    // Players of correspondence matches may be absent, and rated matches allow no bot.
    this.#standInSelect.hidden = this.isCorrespondence || this.isRated;
    this.#takebackSelect.hidden = this.isRated;
    this.#ratedField.hidden = !this.#canBeRated;
    this.#unratedNote.hidden = this.#canBeRated || !hasRatings(this.#app);
    void this.#drawSpectatorFields();
  }

  /** Draws the spectator fields when the user opens them; they are in the lazy bundle. */
  async #drawSpectatorFields() {
    if (!this.#spectatorDetails.open) return;
    const chunk = await tryLoadLazyBundle(this.#app);
    chunk?.renderSpectatorOptions(this.#spectatorFields, this.#prefs, this.#onChange, this);
  }

  /** Rated matches require an account and a clock. */
  get #canBeRated() {
    return Boolean(this.#app.player?.account) && this.#clockPicker.clock !== null;
  }

  get isRated() {
    return this.#canBeRated && this.#prefs.rated === true;
  }

  get isCorrespondence() {
    return isCorrespondenceClock(this.#clockPicker.clock);
  }

  /** The clock for the request; `undefined` after showing the errors of an invalid custom clock. */
  clock() {
    if (!this.#clockPicker.validate()) return undefined;
    const { clock } = this.#clockPicker;
    return clock ? { clock } : {};
  }

  get standIn() {
    const { standIn } = this.#prefs;
    return standIn && !this.isCorrespondence && !this.isRated ? { stand_in: standIn } : {};
  }

  get takeback() {
    return { takeback: this.#prefs.takeback !== false && !this.isRated };
  }

  get rated() {
    return this.isRated ? { rated: true } : {};
  }

  /** Access and delay for spectators, if the match allows the choice. */
  get spectatorOptions() {
    const { watch = '', delay = 0 } = this.#prefs;
    const hasSpectators = this.isRated || watch !== 'nobody';
    return {
      ...(watch !== '' && !this.isRated ? { watch } : {}),
      ...(delay > 0 && !this.isCorrespondence && hasSpectators ? { delay_ms: delay } : {}),
    };
  }
}
