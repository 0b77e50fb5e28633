// What a position is worth, in words and as a bar.

import { h, setText } from '../ui/dom.ts';
import { capitalize, tryTranslate, translate } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { evalText } from './eval-text.ts';

import type { PositionEvaluation } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** Black is drawn dark, also where it is the first side. */
export const shadeClass = ({ seats }: Pick<Match, 'seats'>) =>
  seats[0]?.side === 'black' ? 'of-black' : '';

export class EvalBar {
  #sides;
  #game;
  #unit;
  #value;
  #chance = h('span');
  #share = h('div', { class: 'share-0' });
  #bar;
  /** The words, and the bar below them. */
  elements;

  /** @param waits what stands there before anything is known */
  constructor({ game, seats }: Pick<Match, 'game' | 'seats'>, waits: string = '') {
    this.#sides = seats.map(({ side }) => capitalize(sideName(side)));
    this.#game = game;
    this.#unit = tryTranslate(`thinking.unit.${game}`) ?? translate('thinking.unit');
    this.#value = h('strong', {}, waits);
    const shown = { class: `value ${shadeClass({ seats })}`, hidden: true, 'aria-hidden': true };
    this.#bar = h('div', shown, this.#share);
    this.elements = [h('p', { class: 'worth' }, this.#value, this.#chance), this.#bar];
  }

  show(told: PositionEvaluation | null) {
    this.#bar.hidden = told === null;
    if (told) this.#share.style.width = `${told.win * 100}%`;
    setText(this.#value, told ? evalText(told, this.#sides, this.#game) : '');
    // A result that is known needs no unit, and is no chance.
    const isEstimate = told !== null && !told.exact && told.wins === undefined;
    this.#value.title = isEstimate ? this.#unit : '';
    const percent = Math.round((told?.win ?? 0) * 100);
    const chance = translate('thinking.chance', { side: this.#sides[0] ?? '', percent });
    setText(this.#chance, isEstimate ? chance : '');
  }
}
