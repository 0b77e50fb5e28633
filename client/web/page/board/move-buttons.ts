// Buttons for moves without a square. Games with passes have a permanent pass button.

import { BarButton } from '../actions/bar-button.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { capitalize, translate } from '../text/language.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

const PASS = 'pass';
/** Icon of the pass button: a raised hand. */
const HAND =
  'M7 12V6.500a1.500 1.500 0 0 1 3 0V11M10 11V4.500a1.500 1.500 0 0 1 3 0V11M13 11V5.500a1.500 1.500 0 0 1 3 0V12M16 12V8.500a1.500 1.500 0 0 1 3 0V14a7 7 0 0 1-7 7c-3 0-4.500-1.500-6-4l-2-4a1.400 1.400 0 0 1 2.500-1.300L7 13';

export interface MoveButtonsState {
  /** the legal moves without a square */
  moves: string[];
  /** whether all legal moves are among `moves` */
  areOnlyMoves: boolean;
  /** whether the user may choose a premove */
  canPremove: boolean;
  isPassPremoved: boolean;
}

export class MoveButtons {
  element = h('div', { class: 'others', role: 'group', 'aria-label': translate('bar.others') });
  #play;
  #pass;
  #row = h('div', { class: 'row made' });
  #state: MoveButtonsState = {
    moves: [],
    areOnlyMoves: false,
    canPremove: false,
    isPassPremoved: false,
  };

  constructor(
    app: App,
    {
      play,
      setPremove,
      cancelPremove,
    }: {
      play: (move: string) => void;
      setPremove: (move: string) => void;
      cancelPremove: () => void;
    },
  ) {
    this.#play = play;
    this.#pass = new BarButton(app, translate('bar.pass'), translate('bar.pass'), HAND, () => {
      const { moves, isPassPremoved } = this.#state;
      if (moves.includes(PASS)) play(PASS);
      else if (isPassPremoved) cancelPremove();
      else setPremove(PASS);
    });
    replaceChildren(this.element, this.#pass.element, this.#row);
  }

  show(match: Match, state: MoveButtonsState) {
    this.#state = state;
    const { moves, areOnlyMoves, canPremove, isPassPremoved } = state;
    const { passRule } = conventionsOf(match.game);
    const canPass = moves.includes(PASS);
    const { element } = this.#pass;
    const barredKey = passRule === 'forced' ? 'barred.pass' : 'barred.passTurn';
    const why = translate(match.status === 'running' ? barredKey : 'barred.over');
    const isSpectator = match.you === null;
    this.#pass.show({
      isHidden: !passRule || isSpectator,
      why: canPass || (canPremove && passRule === 'freely') ? '' : why,
    });
    element.classList.toggle('primary', canPass && areOnlyMoves);
    // The button is less prominent unless only a pass is legal or the last move was a pass.
    element.classList.toggle('seldom', !areOnlyMoves && match.moves.at(-1) !== PASS);
    element.setAttribute('aria-pressed', String(isPassPremoved));
    const others = passRule ? moves.filter((move) => move !== PASS) : moves;
    this.element.hidden = (!passRule || isSpectator) && others.length === 0;
    this.#showButtons(others, areOnlyMoves);
  }

  #showButtons(moves: string[], areOnlyMoves: boolean) {
    if (this.#row.dataset.moves === moves.join(' ')) return;
    this.#row.dataset.moves = moves.join(' ');
    const className = areOnlyMoves ? 'primary' : '';
    const button = (move: string) =>
      h(
        'button',
        { type: 'button', class: className, onclick: () => this.#play(move) },
        capitalize(move),
      );
    replaceChildren(this.#row, ...moves.map(button));
    this.#row.hidden = moves.length === 0;
  }
}
