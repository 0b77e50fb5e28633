// What is thought of a match, to look at: how the chances went, what was played badly and what was better, and
// one's own mistakes one after the other.

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

/** In its own units: it is stretched to the room that it has. */
const [WIDTH, HEIGHT] = [600, 100];

export class AnalysisPanel {
  #app;
  #match;
  #does;
  #progress = h('p', { class: 'note', role: 'status' });
  #graph = h('div', { class: 'chances' });
  #accuracy = h('p', { class: 'accuracy' });
  #worth;
  #told = h('div', { class: 'told', 'aria-live': 'polite' });
  #learn = h('button', { type: 'button' }, translate('learn.title'));
  /** The own mistakes, while one learns from them. */
  trainer: MistakeTrainer | null = null;
  #drawn = '';
  #thought: AnalysisResult | null = null;
  element;

  constructor(app: App, match: Match, does: AnalysisCallbacks) {
    this.#app = app;
    this.#match = match;
    this.#does = does;
    this.#worth = new EvalBar(match);
    this.#learn.addEventListener('click', () => this.#begin());
    this.element = h(
      'section',
      { 'aria-label': translate('analysis.title'), tabindex: -1 },
      this.#progress,
      h('div', { class: 'stands', 'aria-live': 'polite' }, ...this.#worth.elements),
      this.#graph,
      h('div', { class: 'row' }, this.#learn, this.#accuracy),
      this.#told,
    );
  }

  /** @param shown after how many moves the board is shown */
  show(thought: AnalysisResult, shown: number) {
    this.#thought = thought;
    const { done, of } = thought;
    const isWhole = of > 0 && done === of;
    this.#progress.hidden = isWhole;
    replaceChildren(
      this.#progress,
      of === 0 ? translate('analysis.waits') : translate('analysis.progress', { done, of }),
    );
    this.#drawGraph(thought, shown);
    this.#tellAccuracy(thought);
    // Whoever looks elsewhere learns no more.
    if (shown !== this.trainer?.ply) this.trainer = null;
    this.#learn.hidden = !isWhole || this.#mistakes.length === 0 || this.trainer !== null;
    // What is to be found is not told. How it stands is seen beside the board, and heard from here.
    const { trainer: learning } = this;
    const next = thought.plies.get(shown);
    const best = learning ? '' : this.#best(next);
    const told = learning
      ? h('p', {}, h('span', { class: 'unseen' }, learning.statusText, ' '), learning.explanation)
      : this.#judgement(thought.plies.get(shown - 1), best);
    replaceChildren(this.#told, told ?? h('p', {}, best));
    // Nor is what it would lead to.
    const isAsked = learning && learning.betterMove === null;
    const isEnd = shown === this.#match.moves.length;
    const stands = next ?? (isEnd ? thought.finalEval : null);
    this.#worth.show(isAsked ? null : stands);
  }

  betterMove(thought: AnalysisResult, shown: number) {
    if (this.trainer) return this.trainer.betterMove;
    const last = thought.plies.get(shown - 1);
    return last?.judged ? last.best : null;
  }

  /** The judgement in short, where there is little room. */
  briefJudgement({ plies }: AnalysisResult, shown: number) {
    const played = plies.get(shown - 1);
    if (!played?.judged || this.trainer) return null;
    const judged = tryTranslate(`judged.${played.judged}`) ?? played.judged;
    // What was better is apart: where the analysis stands below, that tells it.
    const keeps = h('span', { class: 'keeps' }, this.#keeps(played));
    return translateParts('analysis.brief', { judged, keeps });
  }

  /** What the better move comes to. */
  #keeps({ ply, best, why }: AnalysedPly) {
    const better = this.#say(why?.better ?? best, ply);
    const count = why?.kind === 'misses_win' && why.in ? pliesToMoves(why.in) : 0;
    if (why?.keeps === 'win' && count > 0)
      return capitalizeSentence(translate('why.keeps.win.in', { better, count }));
    // Where only points were given away, the move that was played comes to the same result.
    const result = why?.kind === 'loses_points' ? undefined : why?.keeps;
    return capitalizeSentence(
      tryTranslate(`why.keeps.${result}`, { better }) ?? translate('why.keeps.game', { better }),
    );
  }

  /** A move as it is said. */
  #say(move: string, ply: number) {
    const game = this.#app.game(this.#match.game);
    const before = game ? boardBefore(game, this.#match, ply + 1) : null;
    return move === 'pass'
      ? translate('bar.pass')
      : conventionsOf(this.#match.game).describeMove(move, before);
  }

  /** What is best in a position. */
  #best(next: AnalysedPly | undefined) {
    return next ? translate('hint.best', { move: this.#say(next.best, next.ply) }) : '';
  }

  /**
   * Why a move was bad, and what was better.
   * @param best what is best after it
   */
  #judgement(played: AnalysedPly | undefined, best: string) {
    if (!played?.judged) return null;
    const { judged, why } = played;
    // The answer is that already.
    const isAnswered = (why?.punished ?? []).length > 0;
    return h(
      'p',
      { class: judged },
      h('strong', {}, tryTranslate(`judged.${judged}`) ?? judged),
      ' ',
      joinSentences(this.#why(played), this.#keeps(played), !isAnswered && best),
    );
  }

  /** Why it was bad, in a sentence. */
  #kind({ ply, move, judged, why }: AnalysedPly) {
    const points = why?.points ?? 0;
    const filled = { move: this.#say(move, ply), points };
    // From the answer on.
    const count = why?.kind === 'allows_win' && why.in ? pliesToMoves(why.in - 1) : 0;
    const isAbout = points > 0 && why?.kind === 'loses_ground';
    if (isAbout)
      return capitalizeSentence(translate('why.loses_ground.points', { ...filled, count: points }));
    if (count > 0) return capitalizeSentence(translate('why.allows_win.in', { ...filled, count }));
    // The chances are still good.
    if (judged === 'inaccuracy' && why?.kind === 'misses_win')
      return capitalizeSentence(translate('why.misses_win.still', filled));
    return capitalizeSentence(
      tryTranslate(`why.${why?.kind}`, filled) ?? translate('why.loses_ground', filled),
    );
  }

  /** Why it was bad, and what is to be seen of it. */
  #why(played: AnalysedPly) {
    const { why } = played;
    const isQuiet = !/^(allows_win|misses_win|loses_points)$/.test(why?.kind ?? '');
    // A move that is written with a hyphen stays on its line.
    const moves = (why?.san ?? why?.punished ?? []).map((move) => move.replaceAll('-', '-\u2060'));
    const [line, ...rest] = moves;
    // What comes after the answer is of both sides.
    const key = rest.length > 0 ? 'why.answer.then' : 'why.answer';
    const told = { line: line ?? '', then: rest.join(' ') };
    const answer = line !== undefined && translate(why?.goes_on ? `${key}.more` : key, told);
    const signs = (why?.signs ?? []).map((sign) => seen(sign));
    return joinSentences(this.#kind(played), ...signs, isQuiet && this.#chances(played), answer);
  }

  /** How the chances fell, where no result is known. */
  #chances({ ply, seat, win }: AnalysedPly) {
    const after = this.#thought?.plies.get(ply + 1)?.win ?? this.#thought?.finalEval?.win;
    if (after === undefined) return '';
    const [from = 0, to = 0] = [win, after].map((win) =>
      Math.round((seat === 0 ? win : 1 - win) * 100),
    );
    const side = sideName(this.#match.seats[seat]?.side ?? '');
    return from > to ? translate('why.chances', { side, from, to }) : '';
  }

  #tellAccuracy({ accuracy }: AnalysisResult) {
    const told = (accuracy ?? []).flatMap((percent, seat) => {
      const side = sideName(this.#match.seats[seat]?.side ?? '');
      return percent === null ? [] : [translate('analysis.accuracy', { side, percent })];
    });
    replaceChildren(this.#accuracy, told.join(' · '));
  }

  #drawGraph(thought: AnalysisResult, shown: number) {
    const { plies, finalEval: end } = thought;
    const count = this.#match.moves.length;
    const chances = Array.from({ length: count + 1 }, (_, ply) =>
      ply === count ? end?.win : plies.get(ply)?.win,
    );
    const drawn = `${chances.join()} ${shown}`;
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const x = (ply: number) => Math.round((ply / Math.max(count, 1)) * WIDTH);
    const y = (win: number) => Math.round((1 - win) * HEIGHT);
    const known = chances.flatMap((win, ply) =>
      win === undefined ? [] : [{ x: x(ply), y: y(win) }],
    );
    const way = known.map(({ x, y }) => `${x} ${y}`).join('L');
    const [first, last] = [known[0], known.at(-1)];
    const bad = [...plies.values()].filter(({ judged }) => judged);
    const sides = this.#match.seats.map(({ side }) => sideName(side));
    const tone = shadeClass(this.#match);
    const [light = '', dark = ''] = tone ? sides.toReversed() : sides;
    const picture = svg(
      'svg',
      {
        ...{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' },
        class: tone,
        'aria-label': translate('analysis.graph', { first: light, second: dark }),
      },
      ...(first && last
        ? [
            svg('path', { class: 'area', d: `M${first.x} ${HEIGHT}L${way}L${last.x} ${HEIGHT}z` }),
            svg('path', { class: 'way', d: `M${way}` }),
          ]
        : []),
      svg('path', { class: 'middle', d: `M0 ${HEIGHT / 2}H${WIDTH}` }),
      svg('path', { class: 'now', d: `M${x(shown)} 0V${HEIGHT}` }),
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
      this.#does.goToPly(Math.round(((clientX - left) / width) * count));
    });
    replaceChildren(this.#graph, picture);
  }

  /** The own mistakes, in the order in which they were made. */
  get #mistakes() {
    const bad = [...(this.#thought?.plies.values() ?? [])].filter(
      ({ seat, judged }) => seat === this.#match.you && judged,
    );
    return bad.sort((one, other) => one.ply - other.ply);
  }

  /** Goes through the own mistakes. */
  #begin() {
    const learning = new MistakeTrainer(this.#mistakes, {
      goToPly: this.#does.goToPly,
      playFromPosition: this.#does.playFromPosition,
      describeMove: (move, ply) => this.#say(move, ply),
      evalSentence: (played) => evalSentence(this.#match, played),
      explanation: (played) => this.#why(played),
      briefExplanation: (played) => this.#kind(played),
      onChange: () => {
        if (this.#thought) this.show(this.#thought, learning.ply);
        this.#app.update();
        this.#does.focusBoard();
      },
      onEnd: () => {
        this.trainer = null;
        this.#does.goToPly(Infinity);
        this.#learn.focus();
      },
    });
    this.trainer = learning;
    void learning.start(this.#app, this.#match);
  }
}

/** What is to be seen of it on the board, as far as there are words for it. */
const seen = ({ sign, count = 0, instead = 0 }: Finding) =>
  tryTranslate(`sign.${sign}`, { count, instead }) ?? '';
