// The moves that have no square. A pass, where the game has it, keeps its place, and can be chosen ahead
// where one may always pass; others become buttons as they come.

import { BarButton } from '../actions/bar-button.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { capitalize, translate } from '../text/language.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

const PASS = 'pass';
/** A hand held up. */
const HAND =
  'M7 12V6.500a1.500 1.500 0 0 1 3 0V11M10 11V4.500a1.500 1.500 0 0 1 3 0V11M13 11V5.500a1.500 1.500 0 0 1 3 0V12M16 12V8.500a1.500 1.500 0 0 1 3 0V14a7 7 0 0 1-7 7c-3 0-4.500-1.500-6-4l-2-4a1.400 1.400 0 0 1 2.500-1.300L7 13';

export interface MoveButtonsState {
  /** those that may be played now */
  moves: string[];
  /** whether there are no others */
  areOnlyMoves: boolean;
  /** whether one may be chosen ahead */
  canPremove: boolean;
  /** whether a pass is */
  isPassPremoved: boolean;
}

export class MoveButtons {
  element = h('div', { class: 'others', role: 'group', 'aria-label': translate('bar.others') });
  #play;
  #pass;
  #made = h('div', { class: 'row made' });
  #chance: MoveButtonsState = {
    moves: [],
    areOnlyMoves: false,
    canPremove: false,
    isPassPremoved: false,
  };

  constructor(
    app: App,
    {
      play,
      setPremove: queue,
      cancelPremove: unqueue,
    }: {
      play: (move: string) => void;
      setPremove: (move: string) => void;
      cancelPremove: () => void;
    },
  ) {
    this.#play = play;
    this.#pass = new BarButton(app, translate('bar.pass'), translate('bar.pass'), HAND, () => {
      const { moves, isPassPremoved: isQueued } = this.#chance;
      if (moves.includes(PASS)) play(PASS);
      else if (isQueued) unqueue();
      else queue(PASS);
    });
    replaceChildren(this.element, this.#pass.element, this.#made);
  }

  show(match: Match, chance: MoveButtonsState) {
    this.#chance = chance;
    const { moves, areOnlyMoves: isAll, canPremove: awaits, isPassPremoved: isQueued } = chance;
    const { passRule: passes } = conventionsOf(match.game);
    const can = moves.includes(PASS);
    const { element } = this.#pass;
    const barred = passes === 'forced' ? 'barred.pass' : 'barred.passTurn';
    const why = translate(match.status === 'running' ? barred : 'barred.over');
    const looksOn = match.you === null;
    this.#pass.show({
      isHidden: !passes || looksOn,
      why: can || (awaits && passes === 'freely') ? '' : why,
    });
    element.classList.toggle('primary', can && isAll);
    // Few moves are passes: it stands out where nothing else is left, or the other has just passed.
    element.classList.toggle('seldom', !isAll && match.moves.at(-1) !== PASS);
    element.setAttribute('aria-pressed', String(isQueued));
    const others = passes ? moves.filter((move) => move !== PASS) : moves;
    this.element.hidden = (!passes || looksOn) && others.length === 0;
    this.#make(others, isAll);
  }

  #make(moves: string[], isAll: boolean) {
    if (this.#made.dataset.moves === moves.join(' ')) return;
    this.#made.dataset.moves = moves.join(' ');
    const look = isAll ? 'primary' : '';
    const button = (move: string) =>
      h(
        'button',
        { type: 'button', class: look, onclick: () => this.#play(move) },
        capitalize(move),
      );
    replaceChildren(this.#made, ...moves.map(button));
    this.#made.hidden = moves.length === 0;
  }
}
