// One's own mistakes, one after the other: each in the position in which it was made, where one looks for a better
// move on the board, is told what the analysis thinks of it, and may try again.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { fetchEvents } from '../net/fetch-history.ts';
import { capitalizeSentence } from './eval-text.ts';

import type { AnalysedPly } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export interface TrainerCallbacks {
  /** shows the position after so many moves */
  goToPly: (ply: number) => void;
  /** a move as it is said */
  describeMove: (move: string, ply: number) => string;
  /** how it stands with the better move */
  evalSentence: (played: AnalysedPly) => string;
  /** why the move was bad */
  explanation: (played: AnalysedPly) => string;
  /** the same in short */
  briefExplanation: (played: AnalysedPly) => string;
  /** plays on from the position in which the move was made */
  playFromPosition: () => void;
  /** there is something else to be seen */
  onChange: () => void;
  /** nothing is learned any more */
  onEnd: () => void;
}

export class MistakeTrainer {
  #mistakes;
  #does;
  #at = 0;
  /** What may be played after so many moves. */
  #legal: Map<number, string[]> = new Map();
  /** The move that is tried. */
  triedMove: string | null = null;
  /** Whether the better move is shown. */
  #isShown = false;

  /** @param mistakes in the order in which they were made, one at least */
  constructor(mistakes: AnalysedPly[], does: TrainerCallbacks) {
    this.#mistakes = mistakes;
    this.#does = does;
  }

  get #mistake() {
    return this.#mistakes[this.#at] as AnalysedPly;
  }

  /** After how many moves it was made. */
  get ply() {
    return this.#mistake.ply;
  }

  /** What may be chosen now. */
  get legalMoves() {
    const isOver = this.triedMove !== null || this.#isShown;
    return isOver ? [] : (this.#legal.get(this.ply) ?? []);
  }

  /** The move that was better, once one has found it or given up. */
  get betterMove() {
    return this.#isFound || this.#isShown ? this.#mistake.best : null;
  }

  get #isFound() {
    return this.triedMove === this.#mistake.best;
  }

  /** Which moves there are is the server's to say. */
  async start(app: App, match: Match) {
    this.#show();
    const events = await fetchEvents(app, match).catch(() => []);
    for (const event of events) {
      if (event.type === 'started') this.#legal.set(0, event.legal);
      if (event.type === 'moved') this.#legal.set(event.ply + 1, event.legal);
      if (event.type === 'taken_back') this.#legal.set(event.ply, event.legal);
    }
    this.#does.onChange();
  }

  /** @param move a legal one */
  tryMove(move: string) {
    this.triedMove = move;
    this.#does.onChange();
  }

  /** How it stands, in a line. */
  get statusText() {
    if (this.#isFound) return translate('learn.found');
    if (this.#isShown) return translate('learn.shown');
    if (this.triedMove === null) return translate('learn.better');
    return translate(this.triedMove === this.#mistake.move ? 'learn.same' : 'learn.other');
  }

  /**
   * What is to be known of it.
   * @param why why the move was bad
   */
  #about(why: (played: AnalysedPly) => string) {
    const played = this.#mistake;
    const { describeMove: name, evalSentence: worth } = this.#does;
    // That it is the best is said by how it stands.
    if (this.#isFound) return worth(played);
    if (this.#isShown) return translate('hint.best', { move: name(played.best, played.ply) });
    if (this.triedMove === null)
      return translate('learn.played', { move: name(played.move, played.ply) });
    if (this.triedMove === played.move) return why(played);
    return capitalizeSentence(
      translate('learn.other.about', { move: name(this.triedMove, played.ply) }),
    );
  }

  /** Draws what is told and asked. */
  render(place: HTMLElement) {
    const isLast = this.#at + 1 === this.#mistakes.length;
    const isOver = this.betterMove !== null;
    const drawn = JSON.stringify([this.#at, this.triedMove, this.#isShown]);
    if (place.dataset.drawn === drawn) return;
    place.dataset.drawn = drawn;
    const button = (says: string, does: () => void, look = '') =>
      h('button', { type: 'button', class: look, onclick: does }, says);
    replaceChildren(
      place,
      h('p', {}, this.#about(this.#does.briefExplanation)),
      this.triedMove !== null &&
        !isOver &&
        button(translate('learn.again'), () => this.#tryAgain()),
      !isOver && button(translate('learn.show'), () => this.#giveUp()),
      isOver &&
        button(translate(isLast ? 'dialog.done' : 'learn.next'), () => this.#goOn(), 'primary'),
      // Not of the position after a move that is tried: that is known to the page alone.
      (this.triedMove === null || isOver) &&
        button(translate('actions.playOn'), () => this.#does.playFromPosition(), 'onward'),
    );
  }

  /** All that is to be known of it, beside how it stands and what the position is worth. */
  get explanation() {
    return this.#isFound ? '' : this.#about(this.#does.explanation);
  }

  #tryAgain() {
    this.triedMove = null;
    this.#show();
  }

  #giveUp() {
    this.triedMove = null;
    this.#isShown = true;
    this.#does.onChange();
  }

  #goOn() {
    if (this.#at + 1 === this.#mistakes.length) {
      this.#does.onEnd();
      return;
    }
    this.#at += 1;
    this.triedMove = null;
    this.#isShown = false;
    this.#show();
  }

  #show() {
    this.#does.goToPly(this.ply);
    this.#does.onChange();
  }
}
