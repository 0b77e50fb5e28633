// The panel over the board that shows the result of a match and offers the next actions. The player
// can close it.

import { mayAnalyse } from '../analysis/analysis.ts';
import { h, setText } from '../ui/dom.ts';
import { isFirstWin } from '../account/guest-save-reminder.ts';
import { translate } from '../text/language.ts';
import { ratingChangeText, ratingText } from '../social/player-links.ts';
import { icon } from '../app/header-toggles.ts';
import { resultTexts, occupantName, formatPoints } from '../text/phrases.ts';

import type { Level } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { PhraseContext } from '../text/phrases.ts';

const CLOSE_ICON = 'M6 6l12 12M18 6 6 18';

/** Positions of the panel on the board, from the widest to the narrowest. */
const PLACEMENTS = ['', 'narrow', 'narrower'].flatMap((width) =>
  ['upper', 'lower', 'middle'].flatMap((height) =>
    ['center', 'left', 'right'].map((side) => [width, height, side].join(' ').trim()),
  ),
);

export interface ResultCallbacks {
  playAgain: () => void;
  goToStart: () => void;
  analyse: () => void;
  focusBoard: () => void;
  /** returns the text of the toast */
  share: () => Promise<string>;
}

export class ResultPanel {
  #app;
  #focusBoard;
  #headline = h('h2', { id: 'result-title' });
  #why = h('p', { class: 'why' });
  #score = h('p', { class: 'score' });
  #rating = h('p', { class: 'change' });
  #rematchOffer = h('p', { class: 'asks' });
  #savePrompt = h(
    'p',
    { class: 'keep' },
    translate('keep.question'),
    ' ',
    h('a', { href: '/you' }, translate('keep.way')),
  );
  #playAgain;
  #toStart;
  #analyse;
  #share;
  #isShown = false;
  /** Returns the squares of the winning line. */
  #winningLine: () => DOMRect[] = () => [];
  #onResize = () => this.#place();
  element;

  constructor(app: App, { playAgain, goToStart, analyse, share, focusBoard }: ResultCallbacks) {
    this.#app = app;
    this.#focusBoard = focusBoard;
    this.#playAgain = h('button', { type: 'button', class: 'primary', onclick: playAgain });
    this.#toStart = h('button', { type: 'button', onclick: goToStart }, translate('result.back'));
    const closeAndAnalyse = () => {
      this.close();
      analyse();
    };
    this.#analyse = h(
      'button',
      { type: 'button', onclick: closeAndAnalyse },
      translate('analysis.ask'),
    );
    const copy = async () => app.toast(await share());
    this.#share = h(
      'button',
      { type: 'button', onclick: () => void copy() },
      translate('result.share'),
    );
    const close = h(
      'button',
      {
        type: 'button',
        class: 'quiet round close',
        'aria-label': translate('result.close'),
        title: translate('result.close'),
        onclick: () => this.close(),
      },
      icon(CLOSE_ICON),
    );
    this.element = h(
      'section',
      { class: 'result', 'aria-labelledby': 'result-title', tabindex: -1, hidden: true },
      this.#headline,
      this.#why,
      this.#score,
      this.#rating,
      this.#rematchOffer,
      h(
        'div',
        { class: 'row' },
        this.#playAgain,
        this.#toStart,
        this.#analyse,
        this.#share,
        h('a', { class: 'button', href: '/' }, translate('page.lobby')),
      ),
      this.#savePrompt,
      close,
    );
    window.addEventListener('resize', this.#onResize);
  }

  get isOpen() {
    return this.#isShown;
  }

  /** Sets the squares that the panel must not cover. */
  avoidCovering(line: () => DOMRect[]) {
    this.#winningLine = line;
  }

  unmount() {
    window.removeEventListener('resize', this.#onResize);
  }

  /** Moves the panel where it covers no part of the line, if necessary beside the board. */
  #place() {
    const { element } = this;
    if (element.hidden) return;
    const line = this.#winningLine();
    const isCovered = () => {
      const { top, bottom, left, right } = element.getBoundingClientRect();
      return line.some(
        (box) => top < box.bottom && box.top < bottom && left < box.right && box.left < right,
      );
    };
    const fits = (place: string) => {
      element.dataset.place = place;
      return element.scrollHeight <= element.clientHeight && !isCovered();
    };
    if (line.length === 0) delete element.dataset.place;
    else if (!PLACEMENTS.some(fits)) element.dataset.place = 'aside';
  }

  open() {
    this.#isShown = true;
  }

  close() {
    this.#isShown = false;
    const hadFocus = this.element.contains(document.activeElement);
    this.#app.update();
    if (hadFocus) this.#focusBoard();
  }

  /** @param isCurrent whether the board shows the final position */
  show(
    match: Match,
    context: PhraseContext,
    playAgain: { label: string; why: string } | null,
    isCurrent: boolean,
  ) {
    if (match.status !== 'ended') this.#isShown = false;
    const wasHidden = this.element.hidden;
    this.element.hidden = !this.#isShown || !isCurrent;
    if (this.element.hidden) return;
    const { headline, why } = resultTexts(match, context);
    setText(this.#headline, headline);
    setText(this.#why, why);
    setText(this.#score, scoreText(match, this.#app.levels));
    setText(this.#rating, ratingChange(match));
    setText(this.#rematchOffer, rematchOfferText(match, this.#app.levels));
    // The empty line stays, so that an incoming offer does not move the buttons.
    this.#rematchOffer.hidden = match.you === null || playAgain === null;
    this.#savePrompt.hidden = !isFirstWin(this.#app, match);
    this.#playAgain.hidden = playAgain === null;
    // The analysis includes going back through the moves.
    this.#analyse.hidden = !mayAnalyse(this.#app, match);
    this.#toStart.hidden = !this.#analyse.hidden || match.ply === 0;
    // Nobody else can open an offline match.
    this.#share.hidden = this.#app.connection.isOffline;
    setText(this.#playAgain, playAgain?.label ?? '');
    this.#playAgain.setAttribute('aria-disabled', String(Boolean(playAgain?.why)));
    this.#playAgain.title = playAgain?.why ?? '';
    if (wasHidden) this.#place();
    // Keyboard users continue in the panel. The panel itself gets the focus, so that a held key
    // clicks no button.
    const { activeElement } = document;
    if (wasHidden && (activeElement === document.body || activeElement?.closest('.board')))
      this.element.focus({ preventScroll: true });
  }
}

/** Says who has offered a rematch. */
function rematchOfferText({ rematch, you, seats }: Match, levels: Level[]) {
  const other = you === null ? undefined : seats[1 - you];
  if (!rematch || you === null || !other) return '';
  const name = occupantName(other, levels);
  if (rematch.offers[1 - you]) return translate('offers.rematch', { name });
  return rematch.offers[you] ? translate('offers.rematch.ours', { name }) : '';
}

function ratingChange({ changes, you, unrated }: Match) {
  if (unrated === 'farming') return translate('rating.farming');
  const ours = changes?.find(({ seat }) => seat === you);
  if (!ours) return '';
  const rating = ratingText(ours.after, ours.provisional);
  return translate('rating.now', { rating, change: ratingChangeText(ours) });
}

/** Returns the points of both players in the series. */
function scoreText({ series, seats }: Match, levels: Level[]) {
  if (!series) return '';
  const [first, second] = seats.map((seat) => occupantName(seat, levels));
  const [mine, theirs] = series.points.map(formatPoints);
  return `${first} ${mine} : ${theirs} ${second}`;
}
