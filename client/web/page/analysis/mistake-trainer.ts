// Lets the player go through their mistakes: for each position, they look for a better move on the
// board.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { fetchEvents } from '../net/fetch-history.ts';
import { capitalizeSentence } from './eval-text.ts';

import type { AnalysedPly } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export interface TrainerCallbacks {
  /** shows the position at this ply */
  goToPly: (ply: number) => void;
  describeMove: (move: string, ply: number) => string;
  /** evaluation after the better move */
  evalSentence: (played: AnalysedPly) => string;
  /** full explanation of the mistake */
  explanation: (played: AnalysedPly) => string;
  /** one sentence on the mistake */
  briefExplanation: (played: AnalysedPly) => string;
  /** starts a match from the position before the mistake */
  playFromPosition: () => void;
  onChange: () => void;
  onEnd: () => void;
}

export class MistakeTrainer {
  #mistakes;
  #callbacks;
  #index = 0;
  /** Legal moves by ply. */
  #legal: Map<number, string[]> = new Map();
  triedMove: string | null = null;
  /** Whether the player has given up, so that the better move is shown. */
  #isShown = false;

  /** @param mistakes not empty */
  constructor(mistakes: AnalysedPly[], callbacks: TrainerCallbacks) {
    this.#mistakes = mistakes;
    this.#callbacks = callbacks;
  }

  get #mistake() {
    return this.#mistakes[this.#index] as AnalysedPly;
  }

  /** Ply of the current mistake. */
  get ply() {
    return this.#mistake.ply;
  }

  /** Moves that the player may try now. */
  get legalMoves() {
    const isOver = this.triedMove !== null || this.#isShown;
    return isOver ? [] : (this.#legal.get(this.ply) ?? []);
  }

  /** The better move, after the player has found it or given up. */
  get betterMove() {
    return this.#isFound || this.#isShown ? this.#mistake.best : null;
  }

  get #isFound() {
    return this.triedMove === this.#mistake.best;
  }

  /** Shows the first mistake and fetches the legal moves from the server. */
  async start(app: App, match: Match) {
    this.#show();
    const events = await fetchEvents(app, match).catch(() => []);
    for (const event of events) {
      if (event.type === 'started') this.#legal.set(0, event.legal);
      if (event.type === 'moved') this.#legal.set(event.ply + 1, event.legal);
      if (event.type === 'taken_back') this.#legal.set(event.ply, event.legal);
    }
    this.#callbacks.onChange();
  }

  /** @param move a legal one */
  tryMove(move: string) {
    this.triedMove = move;
    this.#callbacks.onChange();
  }

  /** Status in one line. */
  get statusText() {
    if (this.#isFound) return translate('learn.found');
    if (this.#isShown) return translate('learn.shown');
    if (this.triedMove === null) return translate('learn.better');
    return translate(this.triedMove === this.#mistake.move ? 'learn.same' : 'learn.other');
  }

  /** @param explain returns the explanation of the mistake */
  #description(explain: (played: AnalysedPly) => string) {
    const played = this.#mistake;
    const { describeMove, evalSentence } = this.#callbacks;
    // The status already says that the move is the best.
    if (this.#isFound) return evalSentence(played);
    if (this.#isShown)
      return translate('hint.best', { move: describeMove(played.best, played.ply) });
    if (this.triedMove === null)
      return translate('learn.played', { move: describeMove(played.move, played.ply) });
    if (this.triedMove === played.move) return explain(played);
    return capitalizeSentence(
      translate('learn.other.about', { move: describeMove(this.triedMove, played.ply) }),
    );
  }

  render(container: HTMLElement) {
    const isLast = this.#index + 1 === this.#mistakes.length;
    const isOver = this.betterMove !== null;
    const key = JSON.stringify([this.#index, this.triedMove, this.#isShown]);
    if (container.dataset.drawn === key) return;
    container.dataset.drawn = key;
    const button = (label: string, onclick: () => void, className = '') =>
      h('button', { type: 'button', class: className, onclick }, label);
    replaceChildren(
      container,
      h('p', {}, this.#description(this.#callbacks.briefExplanation)),
      this.triedMove !== null &&
        !isOver &&
        button(translate('learn.again'), () => this.#tryAgain()),
      !isOver && button(translate('learn.show'), () => this.#giveUp()),
      isOver &&
        button(translate(isLast ? 'dialog.done' : 'learn.next'), () => this.#next(), 'primary'),
      // The server does not know the position after a tried move.
      (this.triedMove === null || isOver) &&
        button(translate('actions.playOn'), () => this.#callbacks.playFromPosition(), 'onward'),
    );
  }

  /** Full text for the panel; empty if the panel already shows the evaluation. */
  get explanation() {
    return this.#isFound ? '' : this.#description(this.#callbacks.explanation);
  }

  #tryAgain() {
    this.triedMove = null;
    this.#show();
  }

  #giveUp() {
    this.triedMove = null;
    this.#isShown = true;
    this.#callbacks.onChange();
  }

  #next() {
    if (this.#index + 1 === this.#mistakes.length) {
      this.#callbacks.onEnd();
      return;
    }
    this.#index += 1;
    this.triedMove = null;
    this.#isShown = false;
    this.#show();
  }

  #show() {
    this.#callbacks.goToPly(this.ply);
    this.#callbacks.onChange();
  }
}
