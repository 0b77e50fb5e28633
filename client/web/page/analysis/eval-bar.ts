// What a position is worth, in words and as a bar.

import { h, write } from '../ui/dom.ts';
import { capital, known, say } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { worth } from './eval-text.ts';

import type { Valuation } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** Black is drawn dark, also where it is the first side. */
export const shade = ({ seats }: Pick<Match, 'seats'>) =>
  seats[0]?.side === 'black' ? 'of-black' : '';

export class ValueBar {
  #sides;
  #game;
  #unit;
  #value;
  #chance = h('span');
  #share = h('div', { class: 'share-0' });
  #bar;
  /** The words, and the bar below them. */
  parts;

  /** @param waits what stands there before anything is known */
  constructor({ game, seats }: Pick<Match, 'game' | 'seats'>, waits: string = '') {
    this.#sides = seats.map(({ side }) => capital(sideName(side)));
    this.#game = game;
    this.#unit = known(`thinking.unit.${game}`) ?? say('thinking.unit');
    this.#value = h('strong', {}, waits);
    const shown = { class: `value ${shade({ seats })}`, hidden: true, 'aria-hidden': true };
    this.#bar = h('div', shown, this.#share);
    this.parts = [h('p', { class: 'worth' }, this.#value, this.#chance), this.#bar];
  }

  show(told: Valuation | null) {
    this.#bar.hidden = told === null;
    if (told) this.#share.style.width = `${told.win * 100}%`;
    write(this.#value, told ? worth(told, this.#sides, this.#game) : '');
    // A result that is known needs no unit, and is no chance.
    const isEstimate = told !== null && !told.exact && told.wins === undefined;
    this.#value.title = isEstimate ? this.#unit : '';
    const percent = Math.round((told?.win ?? 0) * 100);
    const chance = say('thinking.chance', { side: this.#sides[0] ?? '', percent });
    write(this.#chance, isEstimate ? chance : '');
  }
}
