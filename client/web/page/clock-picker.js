// By which clock one wants to play: one that the operator proposes, one of one's own, or none.

import { select } from './controls.js';
import { fill, h, write } from './dom.js';
import { say } from './language.js';
import { FIRST, KINDS, UNITS, UNIT_NAMES, fieldsOf, readClock } from './own-clock.js';
import { clockWords } from './time.js';

/** @import { Clock, Welcome } from '../protocol.js' */
/** @import { Choice } from './choice.js' */
/** @import { Field, OwnClock, Unit } from './own-clock.js' */

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
  /** @type {Map<string, OwnField>} */
  #fields = new Map();

  /**
   * @param {Welcome['clocks']} presets
   * @param {Partial<Choice>} choice
   * @param {(change: Partial<Choice>) => void} choose
   */
  constructor(presets, choice, choose) {
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

  /** What is chosen, as far as it is a clock. @returns {Clock | null} */
  get clock() {
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

  /** @returns {OwnClock} */
  #written() {
    const { kind, said, unit } = this.#choice.own ?? FIRST;
    const isKnown = KINDS.some((known) => known.kind === kind);
    return {
      kind: isKnown ? kind : FIRST.kind,
      said: { ...FIRST.said, ...said },
      unit: unit in UNITS ? unit : FIRST.unit,
    };
  }

  /** @param {Partial<OwnClock>} change */
  #write(change) {
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
        this.#write({ kind: /** @type {Clock['kind']} */ (kind) });
        this.#drawOwn();
        this.own.querySelector('select')?.focus();
      },
    );
    this.#fields = new Map(
      fieldsOf(kind).map((field) => {
        const written = (/** @type {string} */ text) => {
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
        this.#write({ unit: /** @type {Unit} */ (unit) });
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

  /**
   * @param {Field} field
   * @param {string} value
   * @param {(text: string) => void} written
   */
  constructor({ name }, value, written) {
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

  /** @param {string} trouble */
  tell(trouble) {
    write(this.#trouble, trouble);
    this.input.setAttribute('aria-invalid', String(trouble !== ''));
  }
}
