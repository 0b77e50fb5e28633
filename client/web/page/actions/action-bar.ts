// The buttons below the board: draw, takeback, resign, hint, flip, extra time and rematch. A
// disabled button keeps its place, so that no click lands on another button.

import { isBotVsBot, playAgain, playAgainKind } from './play-again.ts';
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
import { loadLazyBundle } from '../app/load-lazy-bundle.ts';
import { errorText } from '../text/phrases.ts';

import type { Request } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** Extra time that one click gives the opponent. */
const EXTRA_TIME_MS = 15_000;
/** Minimum number of plies between two draw offers of the same player. */
const DRAW_OFFER_INTERVAL = 20;
/** Time before a player can repeat a declined rematch offer. */
const DECLINED_REMATCH_MS = 60_000;

const FLIP_ICON = 'M8 20V5M4 9l4-4 4 4M16 4v15M12 15l4 4 4-4';
const DRAW_ICON = 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16';
const TAKEBACK_ICON = 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6v1';
const RESIGN_ICON = 'M6 21V4h11l-2.500 4L17 12H6';
const REMATCH_ICON = 'M4 11a8 8 0 0 1 14-4l2 2M20 4v5h-5M20 13a8 8 0 0 1-14 4l-2-2M4 20v-5h5';
const HINT_ICON = 'M9 18h6M10 21h4M12 3a6 6 0 0 0-3.500 10.900V15h7v-1.100A6 6 0 0 0 12 3z';
const TIME_ICON = 'M12 5a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 9.500v7M8.500 13h7M10 2h4';

export class ActionBar {
  element = h('div', { class: 'bar', role: 'group', 'aria-label': translate('bar.label') });
  #app;
  #match: Match | null = null;
  #cooldowns = new Cooldowns();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #draw;
  #takeback;
  #resign;
  #time;
  #hint;
  #showBestMove;
  #flip;
  #playAgainButton;
  #editorButton = new EditorButton();

  constructor(
    app: App,
    {
      openResignDialog,
      flip,
      showBestMove,
      moveButtons,
      analyseButton,
    }: {
      openResignDialog: () => void;
      flip: () => void;
      showBestMove: (move: string) => void;
      moveButtons: HTMLElement;
      analyseButton: HTMLElement;
    },
  ) {
    this.#showBestMove = showBestMove;
    this.#app = app;
    const time = formatSeconds(EXTRA_TIME_MS);
    const button = (name: string, label: string, path: string, onClick: () => void) =>
      new BarButton(app, name, label, path, onClick);
    this.#draw = button(translate('bar.draw'), translate('bar.draw.short'), DRAW_ICON, () =>
      this.#offerDraw(),
    );
    this.#takeback = button(
      translate('bar.takeback'),
      translate('bar.takeback.short'),
      TAKEBACK_ICON,
      () => this.#requestTakeback(),
    );
    this.#resign = button(
      translate('bar.resign'),
      translate('bar.resign.short'),
      RESIGN_ICON,
      openResignDialog,
    );
    this.#time = button(translate('bar.time', { time }), `+${time}`, TIME_ICON, () =>
      this.#giveTime(),
    );
    this.#hint = button(translate('bar.hint'), translate('bar.hint.short'), HINT_ICON, () =>
      this.#requestHint(),
    );
    this.#flip = button(translate('bar.turn'), translate('bar.turn.short'), FLIP_ICON, flip);
    this.#playAgainButton = button(
      translate('bar.rematch'),
      translate('bar.rematch.short'),
      REMATCH_ICON,
      () => this.playAgain(),
    );
    this.#playAgainButton.element.classList.add('again');
    replaceChildren(
      this.element,
      moveButtons,
      this.#editorButton.element,
      this.#draw.element,
      analyseButton,
      this.#takeback.element,
      this.#resign.element,
      this.#hint.element,
      this.#flip.element,
      this.#time.element,
      this.#playAgainButton.element,
    );
  }

  /** @param shown the ply at which the board is shown */
  show(match: Match, isFlipped: boolean, shownPly: number) {
    clearTimeout(this.#timer);
    this.#updateCooldowns(match);
    this.#match = match;
    const game = this.#app.game(match.game);
    // Spectators only need the button that flips the board.
    const isSpectator = match.you === null;
    const { isOffline } = this.#app.connection;
    this.#editorButton.show(match, shownPly, isOffline);
    // The editor button takes the place of the draw button after the end. The analysis button takes
    // the next two places, so that all other buttons stay where they are.
    const isOver = match.status === 'ended';
    this.element.classList.toggle('is-over', isOver);
    this.#draw.show({
      isHidden: isSpectator || isOver,
      ...this.#buttonState(match, 'draw', whyNoDraw(match, game?.draws !== false)),
    });
    this.#takeback.show({
      isHidden: isSpectator || isOver,
      ...this.#buttonState(match, 'takeback', whyNoTakeback(match)),
    });
    this.#resign.show({
      isHidden: isSpectator || isOver,
      ...this.#buttonState(match, 'resign', ''),
    });
    const isBotOpponent = match.seats[1 - (match.you ?? 0)]?.occupant === 'bot';
    const canGiveTime = match.clock !== undefined && !isBotOpponent;
    this.#time.show({
      isHidden: isSpectator || !canGiveTime,
      ...this.#buttonState(match, 'time', whyNoTime(match)),
    });
    const allowsHints = isBotOpponent && !match.rated && !isOffline;
    const whyNoHint = isMyTurn(match) ? '' : translate('barred.hint');
    this.#hint.show({
      isHidden: isSpectator || !allowsHints,
      ...this.#buttonState(match, 'hint', whyNoHint),
    });
    this.#flip.show({ isHidden: !conventionsOf(match.game).hasOrientation });
    this.#flip.element.setAttribute('aria-pressed', String(isFlipped));
    this.#showPlayAgain(match);
    const cooldownsMs = ['draw', 'takeback', 'time', 'rematch'].map(
      (action) => this.#cooldowns.get(action, match)?.ms ?? Infinity,
    );
    const leftMs = Math.min(...cooldownsMs);
    if (leftMs !== Infinity) {
      this.#timer = setTimeout(() => this.show(match, isFlipped, shownPly), leftMs % 1000 || 1000);
    }
  }

  unmount() {
    clearTimeout(this.#timer);
  }

  focusPlayAgain() {
    this.#playAgainButton.element.focus();
  }

  /** @param why the reason that follows from the match itself, or '' */
  #buttonState(match: Match, action: string, why: string) {
    if (match.status !== 'running') return { why: translate('barred.over') };
    if (!this.#isConnected()) return { why: translate('refusal.lost') };
    return why ? { why } : (this.#cooldowns.get(action, match) ?? {});
  }

  /**
   * Returns the rematch or challenge that the match allows, with the reason while it is
   * unavailable.
   */
  playAgainOption(
    match: Match,
  ): { isChallenge: boolean; label: string; why: string; wait?: string } | null {
    const { rematch, you } = match;
    const kind = playAgainKind(match);
    if (kind === null) return null;
    const isChallenge = kind === 'challenge';
    const label = translate(isChallenge ? 'bar.challenge.short' : 'bar.rematch.short');
    const option = { isChallenge, label };
    if (!this.#isConnected()) return { ...option, why: translate('refusal.lost') };
    if (you !== null && rematch?.offers[you]) return { ...option, why: translate('barred.asked') };
    const cooldown = kind === 'rematch' ? this.#cooldowns.get('rematch', match) : null;
    return { ...option, why: '', ...cooldown };
  }

  #showPlayAgain(match: Match) {
    const option = this.playAgainOption(match);
    const { isChallenge, label, why, wait } = option ?? {
      isChallenge: false,
      label: translate('bar.rematch.short'),
      why: translate(match.status === 'running' ? 'barred.running' : 'barred.nobody'),
    };
    this.#playAgainButton.setLabel(translate(isChallenge ? 'bar.challenge' : 'bar.rematch'), label);
    this.#playAgainButton.show({ isHidden: match.you === null && !isBotVsBot(match), why, wait });
    this.#playAgainButton.element.classList.toggle('primary', option !== null && !why);
  }

  /** An offer of the opponent ends our cooldown; a declined rematch starts one. */
  #updateCooldowns(match: Match) {
    const previous = this.#match;
    const { you, rematch } = match;
    if (you === null || previous?.match !== match.match) return;
    if (match.offers.some(({ seat, offer }) => seat !== you && offer === 'draw'))
      this.#cooldowns.clear('draw');
    if (rematch?.offers[1 - you]) this.#cooldowns.clear('rematch');
    if (rematch?.declined[you] && previous.rematch?.declined[you] === false)
      this.#cooldowns.setForMs('rematch', match, DECLINED_REMATCH_MS, translate('barred.declined'));
  }

  #isConnected() {
    return this.#app.connection.status.state === 'open';
  }

  playAgain() {
    const match = this.#match;
    const why = match && this.playAgainOption(match)?.why;
    if (why) this.#app.toast(why);
    else if (match) void this.#requestPlayAgain(match);
  }

  async #requestPlayAgain(match: Match) {
    const error = await playAgain(this.#app, match);
    if (error) this.#cooldowns.setFromError('rematch', match, error);
    this.#app.update();
  }

  async #offerDraw() {
    const match = this.#match;
    if (!match) return;
    const { match: id, ply } = match;
    if (
      await this.#request('draw', match, {
        type: 'offer',
        match: id,
        offer: 'draw',
        ply,
      })
    )
      this.#cooldowns.setUntilPly(
        'draw',
        match,
        ply + DRAW_OFFER_INTERVAL,
        translate('barred.lately'),
      );
  }

  async #giveTime() {
    const match = this.#match;
    if (!match) return;
    if (
      await this.#request('time', match, {
        type: 'give_time',
        match: match.match,
        ms: EXTRA_TIME_MS,
      })
    )
      this.#cooldowns.setUntilPly('time', match, match.ply + 1, translate('barred.given'));
    this.#app.update();
  }

  async #requestHint() {
    const match = this.#match;
    if (!match) return;
    const { match: id, ply } = match;
    const hint = await this.#app.request({ type: 'hint', match: id, ply });
    if (!hint || this.#match?.match !== id || this.#match.ply !== ply) return;
    this.#showBestMove(hint.move);
    const move = phraseContextOf(this.#app, this.#match).describeMove(hint.move);
    // If the lazy chunk cannot be loaded, the toast only names the move.
    const chunk = await loadLazyBundle().catch(() => null);
    if (this.#match.match !== id || this.#match.ply !== ply) return;
    this.#app.toast(joinSentences(translate('hint.best', { move }), chunk?.hintText(match, hint)));
  }

  async #requestTakeback() {
    const match = this.#match;
    if (!match) return;
    const { match: id, ply, takebacks } = match;
    const error = await this.#errorOf({ type: 'offer', match: id, offer: 'takeback', ply });
    if (!error) return;
    this.#cooldowns.setFromError('takeback', match, error);
    if (error.retryAfterMs === undefined) {
      this.#app.toast(errorText(error));
      this.#app.update();
      return;
    }
    this.#app.update();
    // Repeats the request after the server's delay, unless the position has changed.
    await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs));
    const current = this.#match;
    if (current?.match === id && current.ply === ply && current.takebacks === takebacks)
      await this.#requestTakeback();
  }

  /**
   * Sends a request; an error starts a cooldown and shows a toast.
   * @returns whether the request succeeded
   */
  async #request(action: string, match: Match, request: Request): Promise<boolean> {
    const error = await this.#errorOf(request);
    if (!error) return true;
    this.#cooldowns.setFromError(action, match, error);
    this.#app.toast(this.#cooldowns.get(action, match)?.why ?? errorText(error));
    this.#app.update();
    return false;
  }

  async #errorOf(request: Request): Promise<RequestError | null> {
    try {
      await this.#app.connection.request(request);
      return null;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return error;
    }
  }
}

function whyNoDraw({ ply, offers, you }: Match, hasDraws: boolean) {
  if (!hasDraws) return translate('barred.noDraws');
  if (ply < 2) return translate('barred.early');
  const isOffered = offers.some(({ seat, offer }) => seat === you && offer === 'draw');
  return isOffered ? translate('barred.offered') : '';
}

function whyNoTakeback(match: Match) {
  if (!match.takeback) return translate('barred.noTakebacks');
  if (takebackPly(match) === null) return translate('barred.unmoved');
  const { offers, you } = match;
  const isOffered = offers.some(({ seat, offer }) => seat === you && offer === 'takeback');
  return isOffered ? translate('barred.asked') : '';
}

const whyNoTime = ({ clock }: Match) =>
  clock?.kind === 'move' ? translate('barred.eachMove') : '';
