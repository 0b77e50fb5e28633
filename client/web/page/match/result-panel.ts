// How a match has ended, over the board, and what one may do next. Whoever wants to see the board puts it
// away.

import { mayAnalyse } from '../analysis/analysis.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { isFirstWin } from '../actions/save-prompt.ts';
import { translate } from '../text/language.ts';
import { ratingChangeText, ratingText } from '../social/player-links.ts';
import { icon } from '../app/header-toggles.ts';
import { resultTexts, occupantName, formatPoints } from '../text/phrases.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { PhraseContext } from '../text/phrases.ts';

const CROSS = 'M6 6l12 12M18 6 6 18';

/** Where it may lie on the board: as wide as it likes, or narrower. */
const PLACES = ['', 'narrow', 'narrower'].flatMap((width) =>
  ['upper', 'lower', 'middle'].flatMap((height) =>
    ['center', 'left', 'right'].map((side) => [width, height, side].join(' ').trim()),
  ),
);

/** What can be done at the end. */
export interface ResultCallbacks {
  playAgain: () => void;
  goToStart: () => void;
  analyse: () => void;
  /** has the keyboard go over the board */
  focusBoard: () => void;
  /** gives what is said of it */
  share: () => Promise<string>;
}

export class ResultPanel {
  #app;
  #toBoard;
  #headline = h('h2', { id: 'result-title' });
  #why = h('p', { class: 'why' });
  #score = h('p', { class: 'score' });
  #rating = h('p', { class: 'change' });
  #asked = h('p', { class: 'asks' });
  #keep = h(
    'p',
    { class: 'keep' },
    translate('keep.question'),
    ' ',
    h('a', { href: '/you' }, translate('keep.way')),
  );
  #again;
  #back;
  #analyse;
  #copy;
  #isShown = false;
  /** Where the line is that has won. */
  #line: () => DOMRect[] = () => [];
  #onResize = () => this.#place();
  element;

  constructor(
    app: App,
    { playAgain: again, goToStart: lookBack, analyse, share, focusBoard: toBoard }: ResultCallbacks,
  ) {
    this.#app = app;
    this.#toBoard = toBoard;
    this.#again = h('button', { type: 'button', class: 'primary', onclick: again });
    this.#back = h('button', { type: 'button', onclick: lookBack }, translate('result.back'));
    const look = () => {
      this.close();
      analyse();
    };
    this.#analyse = h('button', { type: 'button', onclick: look }, translate('analysis.ask'));
    const copy = async () => app.toast(await share());
    this.#copy = h(
      'button',
      { type: 'button', onclick: () => void copy() },
      translate('result.share'),
    );
    const close = h('button', {
      ...{ type: 'button', class: 'quiet round close' },
      ...{
        'aria-label': translate('result.close'),
        title: translate('result.close'),
        onclick: () => this.close(),
      },
    });
    replaceChildren(close, icon(CROSS));
    this.element = h(
      'section',
      { class: 'result', 'aria-labelledby': 'result-title', tabindex: -1, hidden: true },
      this.#headline,
      this.#why,
      this.#score,
      this.#rating,
      this.#asked,
      h(
        'div',
        { class: 'row' },
        this.#again,
        this.#back,
        this.#analyse,
        this.#copy,
        h('a', { class: 'button', href: '/' }, translate('page.lobby')),
      ),
      this.#keep,
      close,
    );
    window.addEventListener('resize', this.#onResize);
  }

  get isOpen() {
    return this.#isShown;
  }

  /**
   * Keeps a line in sight.
   * @param line where it is
   */
  avoidCovering(line: () => DOMRect[]) {
    this.#line = line;
  }

  unmount() {
    window.removeEventListener('resize', this.#onResize);
  }

  /** Lies where it covers nothing of the line: beside the board, if there is no room on it. */
  #place() {
    const { element } = this;
    if (element.hidden) return;
    const line = this.#line();
    const covers = () => {
      const { top, bottom, left, right } = element.getBoundingClientRect();
      return line.some(
        (box) => top < box.bottom && box.top < bottom && left < box.right && box.left < right,
      );
    };
    const fits = (place: string) => {
      element.dataset.place = place;
      return element.scrollHeight <= element.clientHeight && !covers();
    };
    if (line.length === 0) delete element.dataset.place;
    else if (!PLACES.some(fits)) element.dataset.place = 'aside';
  }

  /** A match has ended while one was looking. */
  open() {
    this.#isShown = true;
  }

  /** Shows the board. */
  close() {
    this.#isShown = false;
    const hadFocus = this.element.contains(document.activeElement);
    this.#app.update();
    if (hadFocus) this.#toBoard();
  }

  /**
   * @param again what can be played next
   * @param now whether the board is shown as it is now
   */
  show(
    match: Match,
    speech: PhraseContext,
    again: { label: string; why: string } | null,
    now: boolean,
  ) {
    if (match.status !== 'ended') this.#isShown = false;
    const wasHidden = this.element.hidden;
    this.element.hidden = !this.#isShown || !now;
    if (this.element.hidden) return;
    const { headline, why } = resultTexts(match, speech);
    setText(this.#headline, headline);
    setText(this.#why, why);
    setText(this.#score, score(match, this.#app.levels));
    setText(this.#rating, rating(match));
    setText(this.#asked, asked(match, this.#app.levels));
    // It keeps its line, so that nothing moves under the hand of whoever is about to answer.
    this.#asked.hidden = match.you === null || again === null;
    this.#keep.hidden = !isFirstWin(this.#app, match);
    this.#again.hidden = again === null;
    // Who has it analysed looks back, too.
    this.#analyse.hidden = !mayAnalyse(this.#app, match);
    this.#back.hidden = !this.#analyse.hidden || match.ply === 0;
    // Without the server nobody else can see it.
    this.#copy.hidden = this.#app.connection.isOffline;
    setText(this.#again, again?.label ?? '');
    this.#again.setAttribute('aria-disabled', String(Boolean(again?.why)));
    this.#again.title = again?.why ?? '';
    if (wasHidden) this.#place();
    // Whoever played by keyboard goes on from here; what they still hold down does nothing.
    const { activeElement: at } = document;
    if (wasHidden && (at === document.body || at?.closest('.board')))
      this.element.focus({ preventScroll: true });
  }
}

/** Who waits for whom to play again. */
function asked({ rematch, you, seats }: Match, levels: import('../net/protocol.ts').Level[]) {
  const other = you === null ? undefined : seats[1 - you];
  if (!rematch || you === null || !other) return '';
  const name = occupantName(other, levels);
  if (rematch.offers[1 - you]) return translate('offers.rematch', { name });
  return rematch.offers[you] ? translate('offers.rematch.ours', { name }) : '';
}

/** What has become of our rating. */
function rating({ changes, you, unrated }: Match) {
  if (unrated === 'farming') return translate('rating.farming');
  const ours = changes?.find(({ seat }) => seat === you);
  if (!ours) return '';
  const rating = ratingText(ours.after, ours.provisional);
  return translate('rating.now', { rating, change: ratingChangeText(ours) });
}

/** The points of both in their matches so far. */
function score({ series, seats }: Match, levels: import('../net/protocol.ts').Level[]) {
  if (!series) return '';
  const [first, second] = seats.map((seat) => occupantName(seat, levels));
  const [mine, theirs] = series.points.map(formatPoints);
  return `${first} ${mine} : ${theirs} ${second}`;
}
