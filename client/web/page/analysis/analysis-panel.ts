// Shows the analysis of a match: a graph of the winning chances, the judgement of each move and the
// mistake trainer.

import { replaceChildren, h, svg } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { tryTranslate, translateParts, translate, joinSentences } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { boardBefore } from '../model/board-state.ts';
import { MistakeTrainer } from './mistake-trainer.ts';
import { EvalBar, shadeClass } from './eval-bar.ts';
import { capitalizeSentence, pliesToMoves, evalSentence } from './eval-text.ts';

import type { AnalysedPly, Finding } from '../net/protocol.ts';
import type { AnalysisCallbacks, AnalysisResult } from './analysis.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** Size of the graph in SVG units; CSS stretches it. */
const [WIDTH, HEIGHT] = [600, 100];

export class AnalysisPanel {
  #app;
  #match;
  #callbacks;
  #progress = h('p', { class: 'note', role: 'status' });
  #graph = h('div', { class: 'chances' });
  #accuracy = h('p', { class: 'accuracy' });
  #evalBar;
  #judgementBox = h('div', { class: 'told', 'aria-live': 'polite' });
  #learnButton = h('button', { type: 'button' }, translate('learn.title'));
  /** Runs while the player goes through their mistakes. */
  trainer: MistakeTrainer | null = null;
  #graphKey = '';
  #analysis: AnalysisResult | null = null;
  element;

  constructor(app: App, match: Match, callbacks: AnalysisCallbacks) {
    this.#app = app;
    this.#match = match;
    this.#callbacks = callbacks;
    this.#evalBar = new EvalBar(match);
    this.#learnButton.addEventListener('click', () => this.#startTrainer());
    this.element = h(
      'section',
      { 'aria-label': translate('analysis.title'), tabindex: -1 },
      this.#progress,
      h('div', { class: 'stands', 'aria-live': 'polite' }, ...this.#evalBar.elements),
      this.#graph,
      h('div', { class: 'row' }, this.#learnButton, this.#accuracy),
      this.#judgementBox,
    );
  }

  /** @param shownPly ply of the position on the board */
  show(analysis: AnalysisResult, shownPly: number) {
    this.#analysis = analysis;
    const { done, of } = analysis;
    const isComplete = of > 0 && done === of;
    this.#progress.hidden = isComplete;
    replaceChildren(
      this.#progress,
      of === 0 ? translate('analysis.waits') : translate('analysis.progress', { done, of }),
    );
    this.#drawGraph(analysis, shownPly);
    this.#showAccuracy(analysis);
    // Going to another position ends the training.
    if (shownPly !== this.trainer?.ply) this.trainer = null;
    this.#learnButton.hidden = !isComplete || this.#mistakes.length === 0 || this.trainer !== null;
    // Screen readers read the status of the trainer from here; others see it beside the board.
    const { trainer } = this;
    const next = analysis.plies.get(shownPly);
    const best = trainer ? '' : this.#bestMoveText(next);
    const content = trainer
      ? h('p', {}, h('span', { class: 'unseen' }, trainer.statusText, ' '), trainer.explanation)
      : this.#judgement(analysis.plies.get(shownPly - 1), best);
    replaceChildren(this.#judgementBox, content ?? h('p', {}, best));
    // The evaluation would give away the move that the player is to find.
    const isSearching = trainer && trainer.betterMove === null;
    const isEnd = shownPly === this.#match.moves.length;
    const evaluation = next ?? (isEnd ? analysis.finalEval : null);
    this.#evalBar.show(isSearching ? null : evaluation);
  }

  /** The move that the board marks as better. */
  betterMove(analysis: AnalysisResult, shownPly: number) {
    if (this.trainer) return this.trainer.betterMove;
    const last = analysis.plies.get(shownPly - 1);
    return last?.judged ? last.best : null;
  }

  /** Short judgement of the last shown move, for the status line. */
  briefJudgement({ plies }: AnalysisResult, shownPly: number) {
    const played = plies.get(shownPly - 1);
    if (!played?.judged || this.trainer) return null;
    const judged = tryTranslate(`judged.${played.judged}`) ?? played.judged;
    // CSS hides the better move where the panel already shows it.
    const keeps = h('span', { class: 'keeps' }, this.#betterMoveSentence(played));
    return translateParts('analysis.brief', { judged, keeps });
  }

  /** Sentence that names the better move and its result. */
  #betterMoveSentence({ ply, best, why }: AnalysedPly) {
    const better = this.#describeMove(why?.better ?? best, ply);
    const count = why?.kind === 'misses_win' && why.in ? pliesToMoves(why.in) : 0;
    if (why?.keeps === 'win' && count > 0)
      return capitalizeSentence(translate('why.keeps.win.in', { better, count }));
    // A move that loses only points has the same result as the better one.
    const result = why?.kind === 'loses_points' ? undefined : why?.keeps;
    return capitalizeSentence(
      tryTranslate(`why.keeps.${result}`, { better }) ?? translate('why.keeps.game', { better }),
    );
  }

  #describeMove(move: string, ply: number) {
    const game = this.#app.game(this.#match.game);
    const before = game ? boardBefore(game, this.#match, ply + 1) : null;
    return move === 'pass'
      ? translate('bar.pass')
      : conventionsOf(this.#match.game).describeMove(move, before);
  }

  #bestMoveText(next: AnalysedPly | undefined) {
    return next ? translate('hint.best', { move: this.#describeMove(next.best, next.ply) }) : '';
  }

  /**
   * Explains why a move was bad and names the better one.
   * @param best text on the best reply
   */
  #judgement(played: AnalysedPly | undefined, best: string) {
    if (!played?.judged) return null;
    const { judged, why } = played;
    // The punishing line already begins with the best reply.
    const hasPunishment = (why?.punished ?? []).length > 0;
    return h(
      'p',
      { class: judged },
      h('strong', {}, tryTranslate(`judged.${judged}`) ?? judged),
      ' ',
      joinSentences(
        this.#explanation(played),
        this.#betterMoveSentence(played),
        !hasPunishment && best,
      ),
    );
  }

  /** One sentence on the kind of the mistake. */
  #kindSentence({ ply, move, judged, why }: AnalysedPly) {
    const points = why?.points ?? 0;
    const values = { move: this.#describeMove(move, ply), points };
    // Counts from the opponent's reply.
    const count = why?.kind === 'allows_win' && why.in ? pliesToMoves(why.in - 1) : 0;
    const hasPoints = points > 0 && why?.kind === 'loses_ground';
    if (hasPoints)
      return capitalizeSentence(translate('why.loses_ground.points', { ...values, count: points }));
    if (count > 0) return capitalizeSentence(translate('why.allows_win.in', { ...values, count }));
    // After an inaccuracy, the player still has good chances.
    if (judged === 'inaccuracy' && why?.kind === 'misses_win')
      return capitalizeSentence(translate('why.misses_win.still', values));
    return capitalizeSentence(
      tryTranslate(`why.${why?.kind}`, values) ?? translate('why.loses_ground', values),
    );
  }

  /** Explains a mistake: its kind, the findings on the board and the punishing line. */
  #explanation(played: AnalysedPly) {
    const { why } = played;
    const hasNoResult = !/^(allows_win|misses_win|loses_points)$/.test(why?.kind ?? '');
    // A word joiner prevents a line break after the hyphen of a move.
    const moves = (why?.san ?? why?.punished ?? []).map((move) => move.replaceAll('-', '-\u2060'));
    const [line, ...rest] = moves;
    const key = rest.length > 0 ? 'why.answer.then' : 'why.answer';
    const values = { line: line ?? '', then: rest.join(' ') };
    const answer = line !== undefined && translate(why?.goes_on ? `${key}.more` : key, values);
    const findings = (why?.signs ?? []).map(findingText);
    return joinSentences(
      this.#kindSentence(played),
      ...findings,
      hasNoResult && this.#chancesText(played),
      answer,
    );
  }

  /** Says how far the winning chances fell, if they did. */
  #chancesText({ ply, seat, win }: AnalysedPly) {
    const after = this.#analysis?.plies.get(ply + 1)?.win ?? this.#analysis?.finalEval?.win;
    if (after === undefined) return '';
    const [from = 0, to = 0] = [win, after].map((win) =>
      Math.round((seat === 0 ? win : 1 - win) * 100),
    );
    const side = sideName(this.#match.seats[seat]?.side ?? '');
    return from > to ? translate('why.chances', { side, from, to }) : '';
  }

  #showAccuracy({ accuracy }: AnalysisResult) {
    const texts = (accuracy ?? []).flatMap((percent, seat) => {
      const side = sideName(this.#match.seats[seat]?.side ?? '');
      return percent === null ? [] : [translate('analysis.accuracy', { side, percent })];
    });
    replaceChildren(this.#accuracy, texts.join(' · '));
  }

  #drawGraph(analysis: AnalysisResult, shownPly: number) {
    const { plies, finalEval: end } = analysis;
    const count = this.#match.moves.length;
    const chances = Array.from({ length: count + 1 }, (_, ply) =>
      ply === count ? end?.win : plies.get(ply)?.win,
    );
    const key = `${chances.join()} ${shownPly}`;
    if (key === this.#graphKey) return;
    this.#graphKey = key;
    const x = (ply: number) => Math.round((ply / Math.max(count, 1)) * WIDTH);
    const y = (win: number) => Math.round((1 - win) * HEIGHT);
    const points = chances.flatMap((win, ply) =>
      win === undefined ? [] : [{ x: x(ply), y: y(win) }],
    );
    const path = points.map(({ x, y }) => `${x} ${y}`).join('L');
    const [first, last] = [points[0], points.at(-1)];
    const bad = [...plies.values()].filter(({ judged }) => judged);
    const sides = this.#match.seats.map(({ side }) => sideName(side));
    const shade = shadeClass(this.#match);
    const [light = '', dark = ''] = shade ? sides.toReversed() : sides;
    const picture = svg(
      'svg',
      {
        ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' },
        class: shade,
        'aria-label': translate('analysis.graph', { first: light, second: dark }),
      },
      ...(first && last
        ? [
            svg('path', { class: 'area', d: `M${first.x} ${HEIGHT}L${path}L${last.x} ${HEIGHT}z` }),
            svg('path', { class: 'way', d: `M${path}` }),
          ]
        : []),
      svg('path', { class: 'middle', d: `M0 ${HEIGHT / 2}H${WIDTH}` }),
      svg('path', { class: 'now', d: `M${x(shownPly)} 0V${HEIGHT}` }),
      ...bad.map(({ ply, judged }) =>
        svg('path', {
          class: `bad ${judged}`,
          d: `M${x(ply + 1)} ${y(chances[ply + 1] ?? 0.5)}h0`,
        }),
      ),
    );
    picture.addEventListener('click', (event) => {
      const { clientX } = event as MouseEvent;
      const { left, width } = picture.getBoundingClientRect();
      this.#callbacks.goToPly(Math.round(((clientX - left) / width) * count));
    });
    replaceChildren(this.#graph, picture);
  }

  /** The player's mistakes, in the order of the moves. */
  get #mistakes() {
    const bad = [...(this.#analysis?.plies.values() ?? [])].filter(
      ({ seat, judged }) => seat === this.#match.you && judged,
    );
    return bad.sort((a, b) => a.ply - b.ply);
  }

  #startTrainer() {
    const trainer = new MistakeTrainer(this.#mistakes, {
      goToPly: this.#callbacks.goToPly,
      playFromPosition: this.#callbacks.playFromPosition,
      describeMove: (move, ply) => this.#describeMove(move, ply),
      evalSentence: (played) => evalSentence(this.#match, played),
      explanation: (played) => this.#explanation(played),
      briefExplanation: (played) => this.#kindSentence(played),
      onChange: () => {
        if (this.#analysis) this.show(this.#analysis, trainer.ply);
        this.#app.update();
        this.#callbacks.focusBoard();
      },
      onEnd: () => {
        this.trainer = null;
        this.#callbacks.goToPly(Infinity);
        this.#learnButton.focus();
      },
    });
    this.trainer = trainer;
    void trainer.start(this.#app, this.#match);
  }
}

/** Text of a finding; empty if this page does not know its kind. */
const findingText = ({ sign, count = 0, instead = 0 }: Finding) =>
  tryTranslate(`sign.${sign}`, { count, instead }) ?? '';
