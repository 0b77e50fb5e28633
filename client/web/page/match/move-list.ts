// The moves so far, as a list in which one steps back and forth.

import { replaceChildren, h } from '../ui/dom.ts';
import { tryTranslate, translate } from '../text/language.ts';
import { icon } from '../app/header-toggles.ts';

const FIRST = 'M18 6l-6 6 6 6M11 6l-6 6 6 6';
const BACK = 'M15 6l-6 6 6 6';
const FORTH = 'M9 6l6 6-6 6';
const DOWN = 'M12 4v11M7 10.500l5 5 5-5M5 20h14';
const SHARE = 'M12 15V4M8 7.500 12 3.500l4 4M6 11H5v9h14v-9h-1';
const LAST = 'M6 6l6 6-6 6M13 6l6 6-6 6';

export class MoveList {
  #list = h('ol', { class: 'moves' });
  #record = h('a', { class: 'button quiet', download: true, hidden: true });
  #share;
  #buttons;
  #look;
  #figurines;
  #drawn: string[] = [];
  #plies: HTMLButtonElement[] = [];
  #shown = 0;
  /** Whoever has scrolled elsewhere is left there until another move is shown. */
  #scrolledTo = 0;
  /** How many moves there are; one that is under way is not listed yet. */
  #count = 0;
  element;

  /**
   * @param does shows the position after so many moves, or hands a link to it on
   * @param figurines by the letters for which they stand
   * @param tools what else can be done with the match
   */
  constructor(
    {
      goToPly: look,
      share,
    }: { goToPly: (ply: number) => void; share: (ply: number | null) => void },
    figurines: Record<string, string>,
    ...tools: HTMLElement[]
  ) {
    this.#look = look;
    this.#figurines = figurines;
    const label = translate('result.share');
    this.#share = h(
      'button',
      {
        ...{ type: 'button', class: 'quiet round', 'aria-label': label, title: label },
        ...{ hidden: true, onclick: () => share(this.#shown < this.#count ? this.#shown : null) },
      },
      icon(SHARE),
    );
    const step = (label: string, drawn: string, to: () => number) => {
      const go = () => this.#look(Math.max(0, Math.min(this.#count, to())));
      return h(
        'button',
        { type: 'button', class: 'quiet round', 'aria-label': label, title: label, onclick: go },
        icon(drawn),
      );
    };
    this.#buttons = [
      step(translate('moves.first'), FIRST, () => 0),
      step(translate('moves.back'), BACK, () => this.#shown - 1),
      step(translate('moves.forth'), FORTH, () => this.#shown + 1),
      step(translate('moves.last'), LAST, () => this.#count),
    ];
    this.element = h(
      'section',
      { class: 'history', 'aria-labelledby': 'moves-title' },
      h(
        'div',
        { class: 'row' },
        h('h2', { id: 'moves-title' }, translate('moves.title')),
        this.#record,
        ...tools,
        this.#share,
        h('div', { class: 'steps' }, ...this.#buttons),
      ),
      h('div', { class: 'listed' }, this.#list),
    );
  }

  /**
   * Offers the match to take home, as other programs read it.
   * @param match its id: a code may be another match's one day
   * @param format as the game is written; some games have no such form
   */
  setDownloadLink(match: string, format: string | undefined) {
    this.#record.hidden = format === undefined;
    const href = `/record/${match}.${format}`;
    // It stays while others move: what is replaced under the mouse is not clicked.
    if (format === undefined || this.#record.getAttribute('href') === href) return;
    this.#record.setAttribute('href', href);
    const says = translate('moves.download', { format: format.toUpperCase() });
    this.#record.title = says;
    this.#record.setAttribute('aria-label', says);
    replaceChildren(this.#record, icon(DOWN), format.toUpperCase());
  }

  /**
   * Offers a link to what is shown.
   * @param isOver whether it stays what it is
   */
  setShareable(isOver: boolean) {
    this.#share.hidden = !isOver;
  }

  /**
   * @param seen after how many the board stands, or `null` for now, and how many there are with one that is under way
   * @param begins the seat whose move is the first
   */
  show(
    moves: string[],
    { shown: looking, count }: { shown: number | null; count: number },
    sides: string[],
    begins: number,
  ) {
    this.#shown = looking ?? count;
    this.#count = count;
    const shown = Math.min(this.#shown, moves.length);
    if (moves.join(' ') !== this.#drawn.join(' ')) this.#draw(moves, sides, begins);
    this.#plies.forEach((button, at) => {
      if (at + 1 === shown) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    });
    const [first, back, forth, last] = this.#buttons;
    // A button that goes away under the focus would take it along, so they stay and do nothing.
    for (const button of [first, back])
      button?.setAttribute('aria-disabled', String(this.#shown === 0));
    for (const button of [forth, last])
      button?.setAttribute('aria-disabled', String(this.#shown === count));
    if (shown !== this.#scrolledTo) {
      this.#scrolledTo = shown;
      // With the next picture: to measure now has the browser lay out what is not yet all there.
      requestAnimationFrame(() => this.#scroll());
    }
  }

  /** Brings the move after which the board stands into sight. */
  #scroll() {
    const current = this.#plies[this.#shown - 1];
    if (current) this.#list.scrollTo({ top: current.offsetTop - this.#list.clientHeight / 2 });
  }

  /** Marks what was played badly. */
  markJudgements(judged: (readonly [ply: number, judged: string])[]) {
    for (const [ply, how] of judged) {
      const button = this.#plies[ply];
      if (!button || button.dataset.judged === how) continue;
      button.dataset.judged = how;
      const name = button.getAttribute('aria-label') ?? '';
      button.setAttribute('aria-label', `${name}, ${tryTranslate(`judged.${how}`) ?? how}`);
    }
  }

  /** A move, in which letters stay letters: the style may show figurines over them. */
  #written(move: string) {
    const parts = move.split(/([A-Z])/).map((part) => {
      const figurine = this.#figurines[part];
      return figurine ? h('span', { 'data-figurine': figurine }, part) : part;
    });
    return h('span', {}, ...parts);
  }

  /** Moves that are listed already stay, with the focus that one of them may have. */
  #draw(moves: string[], sides: string[], begins: number) {
    const differs = moves.findIndex((move, at) => move !== this.#drawn[at]);
    const kept = differs < 0 ? moves.length : differs;
    const opensRound = (at: number) => at === 0 || (begins + at) % 2 === 0;
    this.#plies.splice(kept).forEach((button, at) => {
      (opensRound(kept + at) ? button.parentElement : button)?.remove();
    });
    for (let at = kept; at < moves.length; at++) {
      // Where the second seat begins, the place of the first is empty.
      const empty = at === 0 && begins === 1 && h('span', {}, '…');
      if (opensRound(at)) this.#list.append(h('li', {}, empty));
      const button = this.#button(moves[at] ?? '', at, sides[(begins + at) % 2] ?? '');
      this.#list.lastElementChild?.append(button);
      this.#plies.push(button);
    }
    this.#drawn = moves;
  }

  /**
   * @param at after so many moves
   * @param side whose it is
   */
  #button(move: string, at: number, side: string) {
    return h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'aria-label': translate('moves.of', { number: at + 1, side, move }),
        onclick: () => this.#look(at + 1),
      },
      this.#written(move),
    );
  }
}
