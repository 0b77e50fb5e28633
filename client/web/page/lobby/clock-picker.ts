// By which clock one wants to play: one that the operator proposes, one of one's own, or none.

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

/** What stands for a clock of one's own in the list of clocks. */
const OWN = 'own';

export class ClockPicker {
  /** The list of clocks. */
  field;
  /** What one's own clock is; empty while another is chosen. */
  customFields = h('div', {
    class: 'own-clock',
    role: 'group',
    'aria-label': translate('own.title'),
  });
  #choice;
  #choose;
  #presets;
  #fields: Map<string, OwnField> = new Map();

  constructor(
    presets: Welcome['clocks'],
    choice: Partial<LobbyPrefs>,
    choose: (change: Partial<LobbyPrefs>) => void,
  ) {
    this.#choice = choice;
    this.#choose = choose;
    this.#presets = new Map(presets.map((preset) => [JSON.stringify(preset.clock), preset]));
    const options = [
      { value: '', title: translate('terms.none') },
      ...Array.from(this.#presets, ([value, { clock }]) => ({ value, title: formatClock(clock) })),
      { value: OWN, title: translate('terms.own') },
    ];
    const known = options.some(({ value }) => value === choice.clock);
    if (!known) choice.clock = '';
    this.field = select(translate('terms.clock'), options, choice.clock, (clock) => {
      choose({ clock });
      this.#drawOwn();
    });
    this.#drawOwn();
  }

  /** What is chosen, as far as it is a clock. */
  get clock(): Clock | null {
    const { clock = '' } = this.#choice;
    if (clock === OWN) return parseClock(this.#written()).clock;
    return this.#presets.get(clock)?.clock ?? null;
  }

  /** Tells what is wrong with one's own clock, if that is chosen. Whether nothing is. */
  validate() {
    const troubles = this.#choice.clock === OWN ? this.#check() : {};
    const wrong = [...this.#fields].find(([name]) => name in troubles);
    wrong?.[1].input.focus();
    return wrong === undefined;
  }

  #written(): CustomClock {
    const { kind, said, unit } = this.#choice.own ?? DEFAULT_CUSTOM_CLOCK;
    const isKnown = CLOCK_KINDS.some((known) => known.kind === kind);
    return {
      kind: isKnown ? kind : DEFAULT_CUSTOM_CLOCK.kind,
      said: { ...DEFAULT_CUSTOM_CLOCK.said, ...said },
      unit: unit in UNIT_MS ? unit : DEFAULT_CUSTOM_CLOCK.unit,
    };
  }

  #write(change: Partial<CustomClock>) {
    this.#choose({ own: { ...this.#written(), ...change } });
  }

  /** Tells at each field what is wrong with it. */
  #check() {
    const read = parseClock(this.#written());
    const troubles = read.clock ? {} : read.troubles;
    for (const [name, field] of this.#fields) field.tell(troubles[name] ?? '');
    return troubles;
  }

  #drawOwn() {
    this.customFields.hidden = this.#choice.clock !== OWN;
    const { kind, said, unit } = this.#written();
    const kinds = select(
      translate('own.kind'),
      CLOCK_KINDS.map(({ kind }) => ({ value: kind, title: translate(`own.${kind}`) })),
      kind,
      (kind) => {
        this.#write({ kind: kind as Clock['kind'] });
        this.#drawOwn();
        this.customFields.querySelector('select')?.focus();
      },
    );
    this.#fields = new Map(
      clockFields(kind).map((field) => {
        const written = (text: string) => {
          this.#write({ said: { ...this.#written().said, [field.name]: text } });
          this.#check();
        };
        return [field.name, new OwnField(field, said[field.name] ?? '', written)];
      }),
    );
    const units = select(
      translate('own.unit'),
      UNIT_NAMES.map((unit) => ({ value: unit, title: translate(`own.${unit}`) })),
      unit,
      (unit) => {
        this.#write({ unit: unit as TimeUnit });
        this.#check();
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

/** One quantity of one's own clock, with what is wrong with it. */
class OwnField {
  element;
  input;
  #trouble;

  constructor({ name }: ClockField, value: string, written: (text: string) => void) {
    const id = `own-${name}`;
    this.input = h('input', {
      id,
      value,
      inputmode: 'decimal',
      autocomplete: 'off',
      'aria-describedby': `${id}-trouble`,
      // While one writes: told when one leaves the field, it would push away what one is about to click.
      oninput: () => written(this.input.value),
    });
    this.#trouble = h('p', { id: `${id}-trouble`, class: 'trouble', role: 'alert' });
    this.element = h(
      'div',
      { class: 'field' },
      h('label', { for: id }, translate(`own.${name}`)),
      this.input,
      this.#trouble,
    );
  }

  tell(trouble: string) {
    setText(this.#trouble, trouble);
    this.input.setAttribute('aria-invalid', String(trouble !== ''));
  }
}
