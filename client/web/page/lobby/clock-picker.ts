// Select for the clock: a preset of the server, a custom clock or none.

import { select } from '../ui/form-controls.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import {
  DEFAULT_CUSTOM_CLOCK,
  CLOCK_KINDS,
  UNIT_MS,
  UNIT_NAMES,
  clockFields,
  parseClock,
} from './custom-clock.ts';
import { formatClock } from '../text/time.ts';

import type { Clock, Welcome } from '../net/protocol.ts';
import type { LobbyPrefs } from './lobby-prefs.ts';
import type { ClockField, CustomClock, TimeUnit } from './custom-clock.ts';

/** Value of the custom clock in the select. */
const CUSTOM = 'own';

export class ClockPicker {
  field;
  /** Fields of the custom clock, hidden while another clock is selected. */
  customFields = h('div', {
    class: 'own-clock',
    role: 'group',
    'aria-label': translate('own.title'),
  });
  #prefs;
  #onChange;
  #presets;
  #fields = new Map<string, CustomField>();

  constructor(
    presets: Welcome['clocks'],
    prefs: Partial<LobbyPrefs>,
    onChange: (change: Partial<LobbyPrefs>) => void,
  ) {
    this.#prefs = prefs;
    this.#onChange = onChange;
    this.#presets = new Map(presets.map((preset) => [JSON.stringify(preset.clock), preset]));
    const options = [
      { value: '', title: translate('terms.none') },
      ...Array.from(this.#presets, ([value, { clock }]) => ({ value, title: formatClock(clock) })),
      { value: CUSTOM, title: translate('terms.own') },
    ];
    const isOffered = options.some(({ value }) => value === prefs.clock);
    if (!isOffered) prefs.clock = '';
    this.field = select(translate('terms.clock'), options, prefs.clock, (clock) => {
      onChange({ clock });
      this.#drawCustomFields();
    });
    this.#drawCustomFields();
  }

  /** The selected clock; `null` for none or an invalid custom clock. */
  get clock(): Clock | null {
    const { clock = '' } = this.#prefs;
    if (clock === CUSTOM) return parseClock(this.#customClock()).clock;
    return this.#presets.get(clock)?.clock ?? null;
  }

  /** Whether the clock is valid; otherwise shows the errors and focuses the first invalid field. */
  validate() {
    const troubles = this.#prefs.clock === CUSTOM ? this.#showErrors() : {};
    const invalid = [...this.#fields].find(([name]) => name in troubles);
    invalid?.[1].input.focus();
    return invalid === undefined;
  }

  #customClock(): CustomClock {
    const { kind, said, unit } = this.#prefs.own ?? DEFAULT_CUSTOM_CLOCK;
    const isKnown = CLOCK_KINDS.some((entry) => entry.kind === kind);
    return {
      kind: isKnown ? kind : DEFAULT_CUSTOM_CLOCK.kind,
      said: { ...DEFAULT_CUSTOM_CLOCK.said, ...said },
      unit: unit in UNIT_MS ? unit : DEFAULT_CUSTOM_CLOCK.unit,
    };
  }

  #saveCustomClock(change: Partial<CustomClock>) {
    this.#onChange({ own: { ...this.#customClock(), ...change } });
  }

  /** Shows the errors of all fields and returns them by field. */
  #showErrors() {
    const result = parseClock(this.#customClock());
    const troubles = result.clock ? {} : result.troubles;
    for (const [name, field] of this.#fields) field.showError(troubles[name] ?? '');
    return troubles;
  }

  #drawCustomFields() {
    this.customFields.hidden = this.#prefs.clock !== CUSTOM;
    const { kind, said, unit } = this.#customClock();
    const kinds = select(
      translate('own.kind'),
      CLOCK_KINDS.map(({ kind }) => ({ value: kind, title: translate(`own.${kind}`) })),
      kind,
      (kind) => {
        this.#saveCustomClock({ kind: kind as Clock['kind'] });
        this.#drawCustomFields();
        this.customFields.querySelector('select')?.focus();
      },
    );
    this.#fields = new Map(
      clockFields(kind).map((field) => {
        const onInput = (text: string) => {
          this.#saveCustomClock({ said: { ...this.#customClock().said, [field.name]: text } });
          this.#showErrors();
        };
        return [field.name, new CustomField(field, said[field.name] ?? '', onInput)];
      }),
    );
    const units = select(
      translate('own.unit'),
      UNIT_NAMES.map((unit) => ({ value: unit, title: translate(`own.${unit}`) })),
      unit,
      (unit) => {
        this.#saveCustomClock({ unit: unit as TimeUnit });
        this.#showErrors();
      },
    );
    const fields = Array.from(this.#fields.values(), ({ element }) => element);
    replaceChildren(
      this.customFields,
      h('div', { class: 'row fields' }, kinds, ...fields, kind === 'move' && units),
      h('p', { class: 'note' }, translate(`own.${kind}.about`)),
    );
  }
}

/** An input of the custom clock with its error text. */
class CustomField {
  element;
  input;
  #error;

  constructor({ name }: ClockField, value: string, onInput: (text: string) => void) {
    const id = `own-${name}`;
    this.input = h('input', {
      id,
      value,
      inputmode: 'decimal',
      autocomplete: 'off',
      'aria-describedby': `${id}-trouble`,
      // Not on blur, because a new error moves the button that the user is about to click.
      oninput: () => onInput(this.input.value),
    });
    this.#error = h('p', { id: `${id}-trouble`, class: 'trouble', role: 'alert' });
    this.element = h(
      'div',
      { class: 'field' },
      h('label', { for: id }, translate(`own.${name}`)),
      this.input,
      this.#error,
    );
  }

  showError(text: string) {
    setText(this.#error, text);
    this.input.setAttribute('aria-invalid', String(text !== ''));
  }
}
