// Shows the evaluation of a position as text and as a bar.

import { h, setText } from '../ui/dom.ts';
import { capitalize, tryTranslate, translate } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { evalText } from './eval-text.ts';

import type { PositionEvaluation } from '../net/protocol.ts';
import type { Match } from '../model/match.ts';

/** CSS class that draws black as the dark side if it is the first side. */
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
  /** The text and the bar below it. */
  elements;

  /** @param placeholder text before the first evaluation */
  constructor({ game, seats }: Pick<Match, 'game' | 'seats'>, placeholder = '') {
    this.#sides = seats.map(({ side }) => capitalize(sideName(side)));
    this.#game = game;
    this.#unit = tryTranslate(`thinking.unit.${game}`) ?? translate('thinking.unit');
    this.#value = h('strong', {}, placeholder);
    const attributes = {
      class: `value ${shadeClass({ seats })}`,
      hidden: true,
      'aria-hidden': true,
    };
    this.#bar = h('div', attributes, this.#share);
    this.elements = [h('p', { class: 'worth' }, this.#value, this.#chance), this.#bar];
  }

  show(evaluation: PositionEvaluation | null) {
    this.#bar.hidden = evaluation === null;
    if (evaluation) this.#share.style.width = `${evaluation.win * 100}%`;
    setText(this.#value, evaluation ? evalText(evaluation, this.#sides, this.#game) : '');
    // A proven result has no unit and no chance.
    const isEstimate = evaluation !== null && !evaluation.exact && evaluation.wins === undefined;
    this.#value.title = isEstimate ? this.#unit : '';
    const percent = Math.round((evaluation?.win ?? 0) * 100);
    const chance = translate('thinking.chance', { side: this.#sides[0] ?? '', percent });
    setText(this.#chance, isEstimate ? chance : '');
  }
}
