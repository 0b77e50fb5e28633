// Requests the analysis of a finished match and collects the parts that the server sends.

import { isBotVsBot } from '../actions/play-again.ts';
import { BarButton } from '../actions/bar-button.ts';
import { h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { AnalysedPly, Analysis, PositionEvaluation } from '../net/protocol.ts';
import type { AnalysisPanel } from './analysis-panel.ts';
import type { App } from '../app/main.ts';
import type { Action } from '../model/state.ts';
import type { Match } from '../model/match.ts';

/** Path of the icon: a graph with a point. */
const GRAPH_ICON = 'M3 16l5-7 4 5 4-9 5 6M16 5h.010';

export interface AnalysisCallbacks {
  /** shows the position at this ply */
  goToPly: (ply: number) => void;
  /** scrolls the board into view and focuses it */
  focusBoard: () => void;
  /** plays on from the position that is shown */
  playFromPosition: () => void;
}

/** All parts of the analysis that the page has received. */
export class AnalysisResult {
  plies: Map<number, AnalysedPly> = new Map();
  /** Evaluation of the final position. */
  finalEval: PositionEvaluation | null = null;
  accuracy: Analysis['accuracy'] | null = null;
  done = 0;
  of = 0;

  add({ plies, end, accuracy, done, of }: Analysis) {
    for (const ply of plies) this.plies.set(ply.ply, ply);
    Object.assign(this, { done, of });
    if (end) this.finalEval = end;
    if (accuracy) this.accuracy = accuracy;
  }
}

/**
 * Whether the user may analyse the match after its end. The host may analyse a match of two bots.
 */
function isOffered(app: App, match: Match) {
  const { you, host } = match;
  const access = app.connection.welcome?.analysis;
  const isOurs = you !== null || (isBotVsBot(match) && host === app.player?.id);
  return access === 'anyone' || (access === 'players' && isOurs);
}

export const mayAnalyse = (app: App, match: Match) =>
  match.status === 'ended' && match.ply > 0 && isOffered(app, match);

export class MatchAnalysis {
  /** Question and buttons of the mistake trainer. */
  trainerElement = h('div', { class: 'answer learning', hidden: true });
  panelContainer = h('div', { class: 'analysis', hidden: true });
  /** Button in the action bar, at the place of an action that ends with the match. */
  button;
  #app;
  #callbacks;
  #result = new AnalysisResult();
  #isRequested = false;
  #panel: AnalysisPanel | null = null;
  #match: Match | null = null;
  #shownPly = 0;

  constructor(app: App, callbacks: AnalysisCallbacks) {
    this.#app = app;
    this.#callbacks = callbacks;
    const label = translate('analysis.ask');
    const button = new BarButton(app, label, label, GRAPH_ICON, () => void this.request());
    button.show({ isHidden: true });
    button.element.classList.add('analyse');
    this.button = button.element;
  }

  /** Requests the analysis and shows the panel. */
  async request() {
    const match = this.#match;
    if (!match || this.#isRequested) return;
    this.#isRequested = true;
    const hadFocus = this.button === document.activeElement;
    const lazy = await tryLoadLazyBundle(this.#app);
    const isAccepted = lazy && (await this.#app.request({ type: 'analyse', match: match.match }));
    if (!isAccepted) {
      this.#isRequested = false;
      return;
    }
    this.#panel ??= new lazy.AnalysisPanel(this.#app, match, this.#callbacks);
    this.panelContainer.replaceChildren(this.#panel.element);
    this.panelContainer.hidden = false;
    this.panelContainer.parentElement?.classList.add('analysed');
    this.#draw();
    this.#app.update();
    // The button disappears, so the focus moves to the panel.
    const focused = document.activeElement;
    if (hadFocus && (focused === this.button || focused === document.body))
      this.#panel.element.focus({ preventScroll: true });
  }

  onChange(message: Action) {
    if (!('match' in message) || message.match !== this.#match?.match) return;
    if (message.type === 'error') this.#isRequested = false;
    if (message.type !== 'analysis') return;
    this.#result.add(message);
    this.#draw();
    this.#app.update();
  }

  /** Repeats the request if the analysis was incomplete when the connection broke. */
  onWelcome() {
    if (this.#isRequested && this.#result.done < this.#result.of) {
      this.#isRequested = false;
      void this.request();
    }
  }

  /** @param shownPly ply of the position on the board */
  show(match: Match, shownPly: number) {
    const hasChanged = shownPly !== this.#shownPly;
    this.#match = match;
    this.#shownPly = shownPly;
    // For spectators, the button has its place from the start, so that nothing moves when the match
    // ends.
    this.button.hidden =
      match.you === null ? !isOffered(this.#app, match) : match.status !== 'ended';
    this.button.classList.toggle('gone', !mayAnalyse(this.#app, match) || this.#isRequested);
    if (hasChanged) this.#draw();
    const { trainer } = this;
    this.trainerElement.hidden = !trainer;
    if (trainer) trainer.render(this.trainerElement);
    else delete this.trainerElement.dataset.drawn;
  }

  get trainer() {
    return this.#panel?.trainer ?? null;
  }

  /** Judgement of each bad move, by ply. */
  get judgements() {
    return [...this.#result.plies.values()].flatMap(({ ply, judged }) =>
      judged ? [[ply, judged] as const] : [],
    );
  }

  /** Move that was better than the last shown move, or the solution of the mistake trainer. */
  get betterMove() {
    return this.#panel?.betterMove(this.#result, this.#shownPly) ?? null;
  }

  /** Short judgement of the last shown move, with the better move. */
  get briefJudgement() {
    return this.#panel?.briefJudgement(this.#result, this.#shownPly) ?? null;
  }

  #draw() {
    this.#panel?.show(this.#result, this.#shownPly);
  }
}
