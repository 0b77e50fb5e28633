// By which clock one wants to play: one that the operator proposes, one of one's own, or none.

import { select } from '../ui/controls.ts';
import { fill, h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { FIRST, KINDS, UNITS, UNIT_NAMES, fieldsOf, readClock } from './custom-clock.ts';
import { clockWords } from '../text/time.ts';

import type { Clock, Welcome } from '../net/protocol.ts';
import type { Choice } from './lobby-prefs.ts';
import type { Field, OwnClock, Unit } from './custom-clock.ts';

/** What stands for a clock of one's own in the list of clocks. */
const OWN = 'own';

export class ClockPicker {
  /** The list of clocks. */
  field;
  /** What one's own clock is; empty while another is chosen. */
  own = h('div', { class: 'own-clock', role: 'group', 'aria-label': say('own.title') });
  #choice;
  #choose;
  #presets;
  #fields: Map<string, OwnField> = new Map();

  constructor(
    presets: Welcome['clocks'],
    choice: Partial<Choice>,
    choose: (change: Partial<Choice>) => void,
  ) {
    this.#choice = choice;
    this.#choose = choose;
    this.#presets = new Map(presets.map((preset) => [JSON.stringify(preset.clock), preset]));
    const options = [
      { value: '', title: say('terms.none') },
      ...Array.from(this.#presets, ([value, { clock }]) => ({ value, title: clockWords(clock) })),
      { value: OWN, title: say('terms.own') },
    ];
    const known = options.some(({ value }) => value === choice.clock);
    if (!known) choice.clock = '';
    this.field = select(say('terms.clock'), options, choice.clock, (clock) => {
      choose({ clock });
      this.#drawOwn();
    });
    this.#drawOwn();
  }

  /** What is chosen, as far as it is a clock. */
  get clock(): Clock | null {
    const { clock = '' } = this.#choice;
    if (clock === OWN) return readClock(this.#written()).clock;
    return this.#presets.get(clock)?.clock ?? null;
  }

  /** Tells what is wrong with one's own clock, if that is chosen. Whether nothing is. */
  check() {
    const troubles = this.#choice.clock === OWN ? this.#check() : {};
    const wrong = [...this.#fields].find(([name]) => name in troubles);
    wrong?.[1].input.focus();
    return wrong === undefined;
  }

  #written(): OwnClock {
    const { kind, said, unit } = this.#choice.own ?? FIRST;
    const isKnown = KINDS.some((known) => known.kind === kind);
    return {
      kind: isKnown ? kind : FIRST.kind,
      said: { ...FIRST.said, ...said },
      unit: unit in UNITS ? unit : FIRST.unit,
    };
  }

  #write(change: Partial<OwnClock>) {
    this.#choose({ own: { ...this.#written(), ...change } });
  }

  /** Tells at each field what is wrong with it. */
  #check() {
    const read = readClock(this.#written());
    const troubles = read.clock ? {} : read.troubles;
    for (const [name, field] of this.#fields) field.tell(troubles[name] ?? '');
    return troubles;
  }

  #drawOwn() {
    this.own.hidden = this.#choice.clock !== OWN;
    const { kind, said, unit } = this.#written();
    const kinds = select(
      say('own.kind'),
      KINDS.map(({ kind }) => ({ value: kind, title: say(`own.${kind}`) })),
      kind,
      (kind) => {
        this.#write({ kind: kind as Clock['kind'] });
        this.#drawOwn();
        this.own.querySelector('select')?.focus();
      },
    );
    this.#fields = new Map(
      fieldsOf(kind).map((field) => {
        const written = (text: string) => {
          this.#write({ said: { ...this.#written().said, [field.name]: text } });
          this.#check();
        };
        return [field.name, new OwnField(field, said[field.name] ?? '', written)];
      }),
    );
    const units = select(
      say('own.unit'),
      UNIT_NAMES.map((unit) => ({ value: unit, title: say(`own.${unit}`) })),
      unit,
      (unit) => {
        this.#write({ unit: unit as Unit });
        this.#check();
      },
    );
    const fields = Array.from(this.#fields.values(), ({ element }) => element);
    fill(
      this.own,
      h('div', { class: 'row fields' }, kinds, ...fields, kind === 'move' && units),
      h('p', { class: 'note' }, say(`own.${kind}.about`)),
    );
  }
}

/** One quantity of one's own clock, with what is wrong with it. */
class OwnField {
  element;
  input;
  #trouble;

  constructor({ name }: Field, value: string, written: (text: string) => void) {
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
      h('label', { for: id }, say(`own.${name}`)),
      this.input,
      this.#trouble,
    );
  }

  tell(trouble: string) {
    write(this.#trouble, trouble);
    this.input.setAttribute('aria-invalid', String(trouble !== ''));
  }
}
