// One's own mistakes, one after the other: each in the position in which it was made, where one looks for a better
// move on the board, is told what the analysis thinks of it, and may try again.

import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { askForPast } from '../net/fetch-history.ts';
import { begin } from './eval-text.ts';

import type { AnalysedPly } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export interface Does {
  /** shows the position after so many moves */
  look: (ply: number) => void;
  /** a move as it is said */
  name: (move: string, ply: number) => string;
  /** how it stands with the better move */
  worth: (played: AnalysedPly) => string;
  /** why the move was bad */
  why: (played: AnalysedPly) => string;
  /** the same in short */
  brief: (played: AnalysedPly) => string;
  /** plays on from the position in which the move was made */
  playOn: () => void;
  /** there is something else to be seen */
  changed: () => void;
  /** nothing is learned any more */
  ended: () => void;
}

export class Learning {
  #mistakes;
  #does;
  #at = 0;
  /** What may be played after so many moves. */
  #legal: Map<number, string[]> = new Map();
  /** The move that is tried. */
  tried: string | null = null;
  /** Whether the better move is shown. */
  #isShown = false;

  /** @param mistakes in the order in which they were made, one at least */
  constructor(mistakes: AnalysedPly[], does: Does) {
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
  get legal() {
    const isOver = this.tried !== null || this.#isShown;
    return isOver ? [] : (this.#legal.get(this.ply) ?? []);
  }

  /** The move that was better, once one has found it or given up. */
  get better() {
    return this.#isFound || this.#isShown ? this.#mistake.best : null;
  }

  get #isFound() {
    return this.tried === this.#mistake.best;
  }

  /** Which moves there are is the server's to say. */
  async begin(app: App, match: Match) {
    this.#show();
    const events = await askForPast(app, match).catch(() => []);
    for (const event of events) {
      if (event.type === 'started') this.#legal.set(0, event.legal);
      if (event.type === 'moved') this.#legal.set(event.ply + 1, event.legal);
      if (event.type === 'taken_back') this.#legal.set(event.ply, event.legal);
    }
    this.#does.changed();
  }

  /** @param move a legal one */
  choose(move: string) {
    this.tried = move;
    this.#does.changed();
  }

  /** How it stands, in a line. */
  get standing() {
    if (this.#isFound) return say('learn.found');
    if (this.#isShown) return say('learn.shown');
    if (this.tried === null) return say('learn.better');
    return say(this.tried === this.#mistake.move ? 'learn.same' : 'learn.other');
  }

  /**
   * What is to be known of it.
   * @param why why the move was bad
   */
  #about(why: (played: AnalysedPly) => string) {
    const played = this.#mistake;
    const { name, worth } = this.#does;
    // That it is the best is said by how it stands.
    if (this.#isFound) return worth(played);
    if (this.#isShown) return say('hint.best', { move: name(played.best, played.ply) });
    if (this.tried === null) return say('learn.played', { move: name(played.move, played.ply) });
    if (this.tried === played.move) return why(played);
    return begin(say('learn.other.about', { move: name(this.tried, played.ply) }));
  }

  /** Draws what is told and asked. */
  draw(place: HTMLElement) {
    const isLast = this.#at + 1 === this.#mistakes.length;
    const isOver = this.better !== null;
    const drawn = JSON.stringify([this.#at, this.tried, this.#isShown]);
    if (place.dataset.drawn === drawn) return;
    place.dataset.drawn = drawn;
    const button = (says: string, does: () => void, look = '') =>
      h('button', { type: 'button', class: look, onclick: does }, says);
    fill(
      place,
      h('p', {}, this.#about(this.#does.brief)),
      this.tried !== null && !isOver && button(say('learn.again'), () => this.#tryAgain()),
      !isOver && button(say('learn.show'), () => this.#giveUp()),
      isOver && button(say(isLast ? 'dialog.done' : 'learn.next'), () => this.#goOn(), 'primary'),
      // Not of the position after a move that is tried: that is known to the page alone.
      (this.tried === null || isOver) &&
        button(say('actions.playOn'), () => this.#does.playOn(), 'onward'),
    );
  }

  /** All that is to be known of it, beside how it stands and what the position is worth. */
  get told() {
    return this.#isFound ? '' : this.#about(this.#does.why);
  }

  #tryAgain() {
    this.tried = null;
    this.#show();
  }

  #giveUp() {
    this.tried = null;
    this.#isShown = true;
    this.#does.changed();
  }

  #goOn() {
    if (this.#at + 1 === this.#mistakes.length) {
      this.#does.ended();
      return;
    }
    this.#at += 1;
    this.tried = null;
    this.#isShown = false;
    this.#show();
  }

  #show() {
    this.#does.look(this.ply);
    this.#does.changed();
  }
}
