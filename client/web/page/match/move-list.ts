// The list of moves, with buttons that step through the match.

import { replaceChildren, h } from '../ui/dom.ts';
import { tryTranslate, translate } from '../text/language.ts';
import { icon } from '../app/header-toggles.ts';

const FIRST_ICON = 'M18 6l-6 6 6 6M11 6l-6 6 6 6';
const BACK_ICON = 'M15 6l-6 6 6 6';
const FORWARD_ICON = 'M9 6l6 6-6 6';
const DOWNLOAD_ICON = 'M12 4v11M7 10.500l5 5 5-5M5 20h14';
const SHARE_ICON = 'M12 15V4M8 7.500 12 3.500l4 4M6 11H5v9h14v-9h-1';
const LAST_ICON = 'M6 6l6 6-6 6M13 6l6 6-6 6';

export class MoveList {
  #list = h('ol', { class: 'moves' });
  #download = h('a', { class: 'button quiet', download: true, hidden: true });
  #share;
  #stepButtons;
  #goToPly;
  #figurines;
  #renderedMoves: string[] = [];
  #moveButtons: HTMLButtonElement[] = [];
  #shownPly = 0;
  /**
   * The list scrolls only when another move is shown, so that it does not override the user's
   * scrolling.
   */
  #scrolledTo = 0;
  /** Number of moves including a pending one, which is not in the list yet. */
  #count = 0;
  element;

  /**
   * @param figurines the figurine of each piece letter
   * @param tools further buttons for the heading
   */
  constructor(
    { goToPly, share }: { goToPly: (ply: number) => void; share: (ply: number | null) => void },
    figurines: Record<string, string>,
    ...tools: HTMLElement[]
  ) {
    this.#goToPly = goToPly;
    this.#figurines = figurines;
    const label = translate('result.share');
    this.#share = h(
      'button',
      {
        type: 'button',
        class: 'quiet round',
        'aria-label': label,
        title: label,
        hidden: true,
        onclick: () => share(this.#shownPly < this.#count ? this.#shownPly : null),
      },
      icon(SHARE_ICON),
    );
    const step = (label: string, iconPath: string, ply: () => number) => {
      const go = () => this.#goToPly(Math.max(0, Math.min(this.#count, ply())));
      return h(
        'button',
        { type: 'button', class: 'quiet round', 'aria-label': label, title: label, onclick: go },
        icon(iconPath),
      );
    };
    this.#stepButtons = [
      step(translate('moves.first'), FIRST_ICON, () => 0),
      step(translate('moves.back'), BACK_ICON, () => this.#shownPly - 1),
      step(translate('moves.forth'), FORWARD_ICON, () => this.#shownPly + 1),
      step(translate('moves.last'), LAST_ICON, () => this.#count),
    ];
    this.element = h(
      'section',
      { class: 'history', 'aria-labelledby': 'moves-title' },
      h(
        'div',
        { class: 'row' },
        h('h2', { id: 'moves-title' }, translate('moves.title')),
        this.#download,
        ...tools,
        this.#share,
        h('div', { class: 'steps' }, ...this.#stepButtons),
      ),
      h('div', { class: 'listed' }, this.#list),
    );
  }

  /**
   * Shows a link that downloads the match.
   * @param match the id; a later match can get the same code
   * @param format the file format of the game's records, if it has one
   */
  setDownloadLink(match: string, format: string | undefined) {
    this.#download.hidden = format === undefined;
    const href = `/record/${match}.${format}`;
    // A link that is replaced between mouse down and mouse up would lose the click.
    if (format === undefined || this.#download.getAttribute('href') === href) return;
    this.#download.setAttribute('href', href);
    const label = translate('moves.download', { format: format.toUpperCase() });
    this.#download.title = label;
    this.#download.setAttribute('aria-label', label);
    replaceChildren(this.#download, icon(DOWNLOAD_ICON), format.toUpperCase());
  }

  setShareable(isShareable: boolean) {
    this.#share.hidden = !isShareable;
  }

  /**
   * Renders the list. `shown` is `null` for the current position, and `count` includes a pending
   * move.
   * @param firstSeat the seat that made the first move
   */
  show(
    moves: string[],
    { shown: ply, count }: { shown: number | null; count: number },
    sides: string[],
    firstSeat: number,
  ) {
    this.#shownPly = ply ?? count;
    this.#count = count;
    const shown = Math.min(this.#shownPly, moves.length);
    if (moves.join(' ') !== this.#renderedMoves.join(' ')) this.#render(moves, sides, firstSeat);
    this.#moveButtons.forEach((button, index) => {
      if (index + 1 === shown) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    });
    const [first, back, forth, last] = this.#stepButtons;
    // Buttons are disabled by attribute only, because a disabled element would lose the focus.
    for (const button of [first, back])
      button?.setAttribute('aria-disabled', String(this.#shownPly === 0));
    for (const button of [forth, last])
      button?.setAttribute('aria-disabled', String(this.#shownPly === count));
    if (shown !== this.#scrolledTo) {
      this.#scrolledTo = shown;
      // Measuring in this frame would force a layout of the unfinished page.
      requestAnimationFrame(() => this.#scroll());
    }
  }

  /** Scrolls to the move that led to the shown position. */
  #scroll() {
    const current = this.#moveButtons[this.#shownPly - 1];
    if (current) this.#list.scrollTo({ top: current.offsetTop - this.#list.clientHeight / 2 });
  }

  markJudgements(judgements: (readonly [ply: number, judgement: string])[]) {
    for (const [ply, judgement] of judgements) {
      const button = this.#moveButtons[ply];
      if (!button || button.dataset.judged === judgement) continue;
      button.dataset.judged = judgement;
      const name = button.getAttribute('aria-label') ?? '';
      button.setAttribute(
        'aria-label',
        `${name}, ${tryTranslate(`judged.${judgement}`) ?? judgement}`,
      );
    }
  }

  /** Piece letters remain text; a style sheet can show figurines instead. */
  #moveText(move: string) {
    const parts = move.split(/([A-Z])/).map((part) => {
      const figurine = this.#figurines[part];
      return figurine ? h('span', { 'data-figurine': figurine }, part) : part;
    });
    return h('span', {}, ...parts);
  }

  /** Keeps the elements of unchanged moves, because one of them can have the focus. */
  #render(moves: string[], sides: string[], firstSeat: number) {
    const firstChange = moves.findIndex((move, index) => move !== this.#renderedMoves[index]);
    const unchanged = firstChange < 0 ? moves.length : firstChange;
    const startsRound = (index: number) => index === 0 || (firstSeat + index) % 2 === 0;
    this.#moveButtons.splice(unchanged).forEach((button, index) => {
      (startsRound(unchanged + index) ? button.parentElement : button)?.remove();
    });
    for (let index = unchanged; index < moves.length; index++) {
      // If the second seat began, the first round has no move of the first seat.
      const placeholder = index === 0 && firstSeat === 1 && h('span', {}, '…');
      if (startsRound(index)) this.#list.append(h('li', {}, placeholder));
      const button = this.#moveButton(
        moves[index] ?? '',
        index,
        sides[(firstSeat + index) % 2] ?? '',
      );
      this.#list.lastElementChild?.append(button);
      this.#moveButtons.push(button);
    }
    this.#renderedMoves = moves;
  }

  #moveButton(move: string, index: number, side: string) {
    return h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'aria-label': translate('moves.of', { number: index + 1, side, move }),
        onclick: () => this.#goToPly(index + 1),
      },
      this.#moveText(move),
    );
  }
}
