// What is thought of a match that is over, as far as it is told: asked for by a button, told in parts, and shown
// beside the moves.

import { isBotVsBot } from '../actions/rematch.ts';
import { BarButton } from '../actions/bar-button.ts';
import { h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { tryLoadLazyChunk } from '../app/lazy.ts';

import type {
  AnalysedPly,
  Analysis as Told,
  Message,
  PositionEvaluation,
} from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** A way up and down, with a point on it. */
const WAVE = 'M3 16l5-7 4 5 4-9 5 6M16 5h.010';

/** What one does with it. */
export interface AnalysisCallbacks {
  /** shows the position after so many moves */
  goToPly: (ply: number) => void;
  /** has the board in sight, and the keyboard choose on it */
  focusBoard: () => void;
  /** plays on from the position that is shown */
  playFromPosition: () => void;
}

/** What has come of it. */
export class AnalysisResult {
  plies: Map<number, AnalysedPly> = new Map();
  /** What the position at the end is worth. */
  finalEval: PositionEvaluation | null = null;
  accuracy: Told['accuracy'] | null = null;
  done = 0;
  of = 0;

  add({ plies, end, accuracy, done, of }: Told) {
    for (const ply of plies) this.plies.set(ply.ply, ply);
    Object.assign(this, { done, of });
    if (end) this.finalEval = end;
    if (accuracy) this.accuracy = accuracy;
  }
}

/** Whether this may be asked for at the end: of two bots by whoever has had them play. */
function isOffered(app: App, match: Match) {
  const { you, host } = match;
  const who = app.connection.welcome?.analysis;
  const isOurs = you !== null || (isBotVsBot(match) && host === app.player?.id);
  return who === 'anyone' || (who === 'players' && isOurs);
}

/** Whether this may be asked for now. */
export const mayAnalyse = (app: App, match: Match) =>
  match.status === 'ended' && match.ply > 0 && isOffered(app, match);

export class MatchAnalysis {
  /** What is asked of whoever learns from it. */
  trainerElement = h('div', { class: 'answer learning', hidden: true });
  /** Where it is shown. */
  panelContainer = h('div', { class: 'analysis', hidden: true });
  /** In the bar, where it has the place of what is of no use any more. */
  button;
  #app;
  #does;
  #thought = new AnalysisResult();
  #isAsked = false;
  #panel: import('./analysis-panel.ts').AnalysisPanel | null = null;
  #match: Match | null = null;
  #shown = 0;

  constructor(app: App, does: AnalysisCallbacks) {
    this.#app = app;
    this.#does = does;
    const label = translate('analysis.ask');
    const button = new BarButton(app, label, label, WAVE, () => void this.request());
    button.show({ isHidden: true });
    button.element.classList.add('analyse');
    this.button = button.element;
  }

  /** Asks for it, and shows what comes. */
  async request() {
    const match = this.#match;
    if (!match || this.#isAsked) return;
    this.#isAsked = true;
    const hadFocus = this.button === document.activeElement;
    const seldom = await tryLoadLazyChunk(this.#app);
    const isTaken = seldom && (await this.#app.request({ type: 'analyse', match: match.match }));
    if (!isTaken) {
      this.#isAsked = false;
      return;
    }
    this.#panel ??= new seldom.AnalysisPanel(this.#app, match, this.#does);
    this.panelContainer.replaceChildren(this.#panel.element);
    this.panelContainer.hidden = false;
    this.panelContainer.parentElement?.classList.add('analysed');
    this.#draw();
    this.#app.update();
    // The button goes away: whoever has pressed it by keyboard goes on from what it has brought.
    const at = document.activeElement;
    if (hadFocus && (at === this.button || at === document.body))
      this.#panel.element.focus({ preventScroll: true });
  }

  onMessage(message: Message) {
    if (!('match' in message) || message.match !== this.#match?.match) return;
    if (message.type === 'error') this.#isAsked = false;
    if (message.type !== 'analysis') return;
    this.#thought.add(message);
    this.#draw();
    this.#app.update();
  }

  /** What it could not finish, or lost with the connection, may be asked for again. */
  onWelcome() {
    if (this.#isAsked && this.#thought.done < this.#thought.of) {
      this.#isAsked = false;
      void this.request();
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
    const { trainer: learning } = this;
    this.trainerElement.hidden = !learning;
    if (learning) learning.render(this.trainerElement);
    else delete this.trainerElement.dataset.drawn;
  }

  /** A mistake of one's own, while one learns from it. */
  get trainer() {
    return this.#panel?.trainer ?? null;
  }

  /** How each move is judged, where it is not good. */
  get judgements() {
    return [...this.#thought.plies.values()].flatMap(({ ply, judged }) =>
      judged ? [[ply, judged] as const] : [],
    );
  }

  /** The move that was better than the last that is shown, if that was bad, or the one that one is asked to find. */
  get betterMove() {
    return this.#panel?.betterMove(this.#thought, this.#shown) ?? null;
  }

  /** In short, how the last move is judged that is shown, and what was better. */
  get briefJudgement() {
    return this.#panel?.briefJudgement(this.#thought, this.#shown) ?? null;
  }

  #draw() {
    this.#panel?.show(this.#thought, this.#shown);
  }
}
