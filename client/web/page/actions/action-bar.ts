// What one can always do beside moving, each at a place of its own: it stays when there is nothing to be
// done there, so that nobody clicks on what was something else a moment ago.

import { isBotVsBot, playAgain, playAgainKind } from './rematch.ts';
import { BarButton } from './bar-button.ts';
import { Cooldowns } from './cooldowns.ts';
import { RequestError } from '../net/connection.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { translate, joinSentences } from '../text/language.ts';
import { isMyTurn, takebackPly } from '../model/match.ts';
import { EditorButton } from '../match/editor-button.ts';
import { phraseContextOf } from '../text/phrase-context.ts';
import { formatSeconds } from '../text/time.ts';
import { loadLazyChunk } from '../app/lazy.ts';
import { errorText } from '../text/phrases.ts';

import type { Request } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** So much time is given by one click. */
const GIFT_MS = 15_000;
/** So many plies lie between two offers of a draw. */
const DRAW_EVERY = 20;
/** So long a rematch that was declined is not offered again. */
const DECLINED_FOR_MS = 60_000;

/** Two arrows that change places. */
const TURN = 'M8 20V5M4 9l4-4 4 4M16 4v15M12 15l4 4 4-4';
const HALVES = 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16';
const BACK = 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6v1';
const FLAG = 'M6 21V4h11l-2.500 4L17 12H6';
const ROUND = 'M4 11a8 8 0 0 1 14-4l2 2M20 4v5h-5M20 13a8 8 0 0 1-14 4l-2-2M4 20v-5h5';
/** A bulb. */
const BULB = 'M9 18h6M10 21h4M12 3a6 6 0 0 0-3.500 10.900V15h7v-1.100A6 6 0 0 0 12 3z';
const PLUS = 'M12 5a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 9.500v7M8.500 13h7M10 2h4';

export class ActionBar {
  element = h('div', { class: 'bar', role: 'group', 'aria-label': translate('bar.label') });
  #app;
  #match: Match | null = null;
  #barred = new Cooldowns();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #draw;
  #takeback;
  #resign;
  #time;
  #hint;
  #advise;
  #flip;
  #again;
  #setUp = new EditorButton();

  constructor(
    app: App,
    {
      openResignDialog: giveUp,
      flip: turn,
      showBestMove: advise,
      moveButtons: others,
      analyseButton: analyse,
    }: {
      openResignDialog: () => void;
      flip: () => void;
      showBestMove: (move: string) => void;
      moveButtons: HTMLElement;
      analyseButton: HTMLElement;
    },
  ) {
    this.#advise = advise;
    this.#app = app;
    const time = formatSeconds(GIFT_MS);
    const button = (name: string, label: string, drawn: string, does: () => void) =>
      new BarButton(app, name, label, drawn, does);
    this.#draw = button(translate('bar.draw'), translate('bar.draw.short'), HALVES, () =>
      this.#offerDraw(),
    );
    this.#takeback = button(translate('bar.takeback'), translate('bar.takeback.short'), BACK, () =>
      this.#askBack(),
    );
    this.#resign = button(translate('bar.resign'), translate('bar.resign.short'), FLAG, giveUp);
    this.#time = button(translate('bar.time', { time }), `+${time}`, PLUS, () => this.#giveTime());
    this.#hint = button(translate('bar.hint'), translate('bar.hint.short'), BULB, () =>
      this.#askHint(),
    );
    this.#flip = button(translate('bar.turn'), translate('bar.turn.short'), TURN, turn);
    this.#again = button(translate('bar.rematch'), translate('bar.rematch.short'), ROUND, () =>
      this.playAgain(),
    );
    this.#again.element.classList.add('again');
    const playing = [this.#takeback, this.#resign, this.#hint];
    const all = [...playing, this.#flip, this.#time, this.#again].map(({ element }) => element);
    replaceChildren(this.element, others, this.#setUp.element, this.#draw.element, analyse, ...all);
  }

  /**
   * @param isTurned whether the board has been turned around
   * @param shown after how many moves the board is shown
   */
  show(match: Match, isTurned: boolean, shown: number) {
    clearTimeout(this.#timer);
    this.#learnOffers(match);
    this.#match = match;
    const game = this.#app.game(match.game);
    // Whoever watches may turn the board, and needs no room for the rest.
    const never = match.you === null;
    const whyNot = whyNoDraw(match, game?.draws !== false);
    const { isOffline: isAlone } = this.#app.connection;
    this.#setUp.show(match, shown, isAlone);
    // What one does while one plays is out of sight then, and the rest stays in its place: to set up a position has
    // that of the draw, and to analyse has those of the next two.
    const isOver = match.status === 'ended';
    this.element.classList.toggle('is-over', isOver);
    this.#draw.show({ isHidden: never || isOver, ...this.#place(match, 'draw', whyNot) });
    this.#takeback.show({
      isHidden: never || isOver,
      ...this.#place(match, 'takeback', whyNoTakeback(match)),
    });
    this.#resign.show({ isHidden: never || isOver, ...this.#place(match, 'resign', '') });
    const isTimed = match.clock !== undefined;
    const isOfBot = match.seats[1 - (match.you ?? 0)]?.occupant === 'bot';
    // A bot is given no time, and lets one be helped.
    const isGiven = isTimed && !isOfBot;
    this.#time.show({
      isHidden: never || !isGiven,
      ...this.#place(match, 'time', whyNoTime(match)),
    });
    const isHelped = isOfBot && !match.rated && !isAlone;
    const whyNoHint = isMyTurn(match) ? '' : translate('barred.hint');
    this.#hint.show({ isHidden: never || !isHelped, ...this.#place(match, 'hint', whyNoHint) });
    this.#flip.show({ isHidden: !conventionsOf(match.game).hasOrientation });
    this.#flip.element.setAttribute('aria-pressed', String(isTurned));
    this.#showAgain(match);
    const waits = ['draw', 'takeback', 'time', 'rematch'].map(
      (what) => this.#barred.get(what, match)?.ms ?? Infinity,
    );
    const wait = Math.min(...waits);
    if (wait !== Infinity) {
      this.#timer = setTimeout(() => this.show(match, isTurned, shown), wait % 1000 || 1000);
    }
  }

  /** Counts no more. */
  unmount() {
    clearTimeout(this.#timer);
  }

  /** Puts the focus where one goes on after the end. */
  focusPlayAgain() {
    this.#again.element.focus();
  }

  /** @param why not, as far as one sees */
  #place(match: Match, what: string, why: string) {
    if (match.status !== 'running') return { why: translate('barred.over') };
    if (!this.#isConnected()) return { why: translate('refusal.lost') };
    return why ? { why } : (this.#barred.get(what, match) ?? {});
  }

  /** What can be played next, and why it cannot be now; `null` if nothing. */
  playAgainOption(
    match: Match,
  ): { isChallenge: boolean; label: string; why: string; wait?: string } | null {
    const { rematch, you } = match;
    const again = playAgainKind(match);
    if (again === null) return null;
    const isChallenge = again === 'challenge';
    const label = translate(isChallenge ? 'bar.challenge.short' : 'bar.rematch.short');
    const next = { isChallenge, label };
    if (!this.#isConnected()) return { ...next, why: translate('refusal.lost') };
    if (you !== null && rematch?.offers[you]) return { ...next, why: translate('barred.asked') };
    const barred = again === 'rematch' ? this.#barred.get('rematch', match) : null;
    return { ...next, why: '', ...barred };
  }

  #showAgain(match: Match) {
    const next = this.playAgainOption(match);
    const none = translate(match.status === 'running' ? 'barred.running' : 'barred.nobody');
    const label = translate('bar.rematch.short');
    const shown = next ?? { isChallenge: false, label, why: none };
    const { why, wait } = shown;
    this.#again.setLabel(
      translate(shown.isChallenge ? 'bar.challenge' : 'bar.rematch'),
      shown.label,
    );
    const never = match.you === null && !isBotVsBot(match);
    this.#again.show({ isHidden: never, why, wait });
    this.#again.element.classList.toggle('primary', next !== null && !why);
  }

  /** What was offered and declined tells what may be offered next. */
  #learnOffers(match: Match) {
    const before = this.#match;
    const { you, rematch } = match;
    if (you === null || before?.match !== match.match) return;
    if (match.offers.some(({ seat, offer }) => seat !== you && offer === 'draw'))
      this.#barred.clear('draw');
    if (rematch?.offers[1 - you]) this.#barred.clear('rematch');
    if (rematch?.declined[you] && before.rematch?.declined[you] === false)
      this.#barred.setForMs('rematch', match, DECLINED_FOR_MS, translate('barred.declined'));
  }

  #isConnected() {
    return this.#app.connection.status.state === 'open';
  }

  playAgain() {
    const match = this.#match;
    const why = match && this.playAgainOption(match)?.why;
    if (why) this.#app.toast(why);
    else if (match) void this.#askAgain(match);
  }

  async #askAgain(match: Match) {
    const refusal = await playAgain(this.#app, match);
    if (refusal) this.#barred.setFromError('rematch', match, refusal);
    this.#app.update();
  }

  async #offerDraw() {
    const match = this.#match;
    if (!match) return;
    const { match: id, ply } = match;
    if (await this.#ask('draw', match, { type: 'offer', match: id, offer: 'draw', ply }))
      this.#barred.setUntilPly('draw', match, ply + DRAW_EVERY, translate('barred.lately'));
  }

  async #giveTime() {
    const match = this.#match;
    if (!match) return;
    if (await this.#ask('time', match, { type: 'give_time', match: match.match, ms: GIFT_MS }))
      this.#barred.setUntilPly('time', match, match.ply + 1, translate('barred.given'));
    this.#app.update();
  }

  async #askHint() {
    const match = this.#match;
    if (!match) return;
    const { match: id, ply } = match;
    const told = await this.#app.request({
      type: 'hint',
      match: id,
      ply,
    });
    if (!told || this.#match?.match !== id || this.#match.ply !== ply) return;
    this.#advise(told.move);
    const best = phraseContextOf(this.#app, this.#match).describeMove(told.move);
    // What it comes to is told by what comes later; without it the move will do.
    const seldom = await loadLazyChunk().catch(() => null);
    if (this.#match.match !== id || this.#match.ply !== ply) return;
    const comesTo = seldom?.hintText(match, told);
    this.#app.toast(joinSentences(translate('hint.best', { move: best }), comesTo));
  }

  async #askBack() {
    const match = this.#match;
    if (!match) return;
    const { match: id, ply, takebacks } = match;
    const refusal = await this.#refused({ type: 'offer', match: id, offer: 'takeback', ply });
    if (!refusal) return;
    this.#barred.setFromError('takeback', match, refusal);
    if (refusal.retryAfterMs === undefined) {
      this.#app.toast(errorText(refusal));
      this.#app.update();
      return;
    }
    this.#app.update();
    // Whoever has slipped asks at once, and is heard a moment later.
    await new Promise((resolve) => setTimeout(resolve, refusal.retryAfterMs));
    const now = this.#match;
    if (now?.match === id && now.ply === ply && now.takebacks === takebacks) await this.#askBack();
  }

  /**
   * Asks, tells if it is refused, and keeps in mind for how long.
   * @returns whether it was granted
   */
  async #ask(what: string, match: Match, request: Request): Promise<boolean> {
    const refusal = await this.#refused(request);
    if (!refusal) return true;
    this.#barred.setFromError(what, match, refusal);
    this.#app.toast(this.#barred.get(what, match)?.why ?? errorText(refusal));
    this.#app.update();
    return false;
  }

  async #refused(request: Request): Promise<RequestError | null> {
    try {
      await this.#app.connection.request(request);
      return null;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return error;
    }
  }
}

/** @param draws whether the game knows them */
function whyNoDraw({ ply, offers, you }: Match, draws: boolean) {
  if (!draws) return translate('barred.noDraws');
  if (ply < 2) return translate('barred.early');
  const mine = offers.some(({ seat, offer }) => seat === you && offer === 'draw');
  return mine ? translate('barred.offered') : '';
}

function whyNoTakeback(match: Match) {
  if (!match.takeback) return translate('barred.noTakebacks');
  if (takebackPly(match) === null) return translate('barred.unmoved');
  const { offers, you } = match;
  const mine = offers.some(({ seat, offer }) => seat === you && offer === 'takeback');
  return mine ? translate('barred.asked') : '';
}

const whyNoTime = ({ clock }: Match) =>
  clock?.kind === 'move' ? translate('barred.eachMove') : '';
