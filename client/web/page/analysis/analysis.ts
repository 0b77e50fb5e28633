// What is thought of a match that is over, as far as it is told: asked for by a button, told in parts, and shown
// beside the moves.

import { isExhibition } from '../actions/rematch.ts';
import { BarButton } from '../actions/bar-button.ts';
import { h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { come } from '../app/lazy.ts';

import type { AnalysedPly, Analysis as Told, Message, Valuation } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** A way up and down, with a point on it. */
const WAVE = 'M3 16l5-7 4 5 4-9 5 6M16 5h.010';

/** What one does with it. */
export interface Does {
  /** shows the position after so many moves */
  look: (ply: number) => void;
  /** has the board in sight, and the keyboard choose on it */
  toBoard: () => void;
  /** plays on from the position that is shown */
  playOn: () => void;
}

/** What has come of it. */
export class Thought {
  plies: Map<number, AnalysedPly> = new Map();
  /** What the position at the end is worth. */
  end: Valuation | null = null;
  accuracy: Told['accuracy'] | null = null;
  done = 0;
  of = 0;

  add({ plies, end, accuracy, done, of }: Told) {
    for (const ply of plies) this.plies.set(ply.ply, ply);
    Object.assign(this, { done, of });
    if (end) this.end = end;
    if (accuracy) this.accuracy = accuracy;
  }
}

/** Whether this may be asked for at the end: of two bots by whoever has had them play. */
function isOffered(app: App, match: Match) {
  const { you, host } = match;
  const who = app.connection.welcome?.analysis;
  const isOurs = you !== null || (isExhibition(match) && host === app.player?.id);
  return who === 'anyone' || (who === 'players' && isOurs);
}

/** Whether this may be asked for now. */
export const mayAnalyse = (app: App, match: Match) =>
  match.status === 'ended' && match.ply > 0 && isOffered(app, match);

export class Analysis {
  /** What is asked of whoever learns from it. */
  asked = h('div', { class: 'answer learning', hidden: true });
  /** Where it is shown. */
  place = h('div', { class: 'analysis', hidden: true });
  /** In the bar, where it has the place of what is of no use any more. */
  button;
  #app;
  #does;
  #thought = new Thought();
  #isAsked = false;
  #panel: import('./panel.ts').AnalysisPanel | null = null;
  #match: Match | null = null;
  #shown = 0;

  constructor(app: App, does: Does) {
    this.#app = app;
    this.#does = does;
    const label = say('analysis.ask');
    const button = new BarButton(app, label, label, WAVE, () => void this.ask());
    button.show({ never: true });
    button.element.classList.add('analyse');
    this.button = button.element;
  }

  /** Asks for it, and shows what comes. */
  async ask() {
    const match = this.#match;
    if (!match || this.#isAsked) return;
    this.#isAsked = true;
    const hadFocus = this.button === document.activeElement;
    const seldom = await come(this.#app);
    const isTaken = seldom && (await this.#app.ask({ type: 'analyse', match: match.match }));
    if (!isTaken) {
      this.#isAsked = false;
      return;
    }
    this.#panel ??= new seldom.AnalysisPanel(this.#app, match, this.#does);
    this.place.replaceChildren(this.#panel.element);
    this.place.hidden = false;
    this.place.parentElement?.classList.add('analysed');
    this.#draw();
    this.#app.update();
    // The button goes away: whoever has pressed it by keyboard goes on from what it has brought.
    const at = document.activeElement;
    if (hadFocus && (at === this.button || at === document.body))
      this.#panel.element.focus({ preventScroll: true });
  }

  hear(message: Message) {
    if (!('match' in message) || message.match !== this.#match?.match) return;
    if (message.type === 'error') this.#isAsked = false;
    if (message.type !== 'analysis') return;
    this.#thought.add(message);
    this.#draw();
    this.#app.update();
  }

  /** What it could not finish, or lost with the connection, may be asked for again. */
  welcomed() {
    if (this.#isAsked && this.#thought.done < this.#thought.of) {
      this.#isAsked = false;
      void this.ask();
    }
  }

  /** @param shown after how many moves the board is shown */
  show(match: Match, shown: number) {
    const isMoved = shown !== this.#shown;
    this.#match = match;
    this.#shown = shown;
    // Whoever watches sees nothing move when the match is over.
    this.button.hidden =
      match.you === null ? !isOffered(this.#app, match) : match.status !== 'ended';
    this.button.classList.toggle('gone', !mayAnalyse(this.#app, match) || this.#isAsked);
    if (isMoved) this.#draw();
    const { learning } = this;
    this.asked.hidden = !learning;
    if (learning) learning.draw(this.asked);
    else delete this.asked.dataset.drawn;
  }

  /** A mistake of one's own, while one learns from it. */
  get learning() {
    return this.#panel?.learning ?? null;
  }

  /** How each move is judged, where it is not good. */
  get judged() {
    return [...this.#thought.plies.values()].flatMap(({ ply, judged }) =>
      judged ? [[ply, judged] as const] : [],
    );
  }

  /** The move that was better than the last that is shown, if that was bad, or the one that one is asked to find. */
  get better() {
    return this.#panel?.better(this.#thought, this.#shown) ?? null;
  }

  /** In short, how the last move is judged that is shown, and what was better. */
  get brief() {
    return this.#panel?.brief(this.#thought, this.#shown) ?? null;
  }

  #draw() {
    this.#panel?.show(this.#thought, this.#shown);
  }
}
