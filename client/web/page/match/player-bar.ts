// The strip of one seat: who sits there, what they have captured, how they stand, and their clock.

import { ClockFace } from './clockface.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { sideName } from '../text/labels.ts';
import { ratingChangeText, seatProfilePath } from '../social/player-links.ts';
import { drawPieceIcon } from '../board/piece.ts';
import { icon } from '../app/header-toggles.ts';
import { formatPoints } from '../text/phrases.ts';

import type { Seat } from '../net/protocol.ts';
import type { ClockReading } from '../model/clocks.ts';
import type { Tally } from '../model/game-conventions.ts';
import type { Match } from '../model/match.ts';
import type { Board } from '../model/position.ts';

const ROBOT = 'M5 9h14v10H5zM12 5v4M12 5h.01M9 13.5v1M15 13.5v1M2.5 13v3M21.5 13v3';
const PERSON =
  'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20c.8-3.6 3.8-5.5 7.5-5.5s6.700 1.900 7.500 5.500';

/** So long one sees what was said; what is longer stays until it can have been read. */
const SAID_MS = 8_000;
const SAID_MS_PER_CHARACTER = 120;

export class PlayerBar {
  #name = h('bdi', { class: 'player-name' });
  #rating = h('span', { class: 'rating' });
  #kind = h('span', { class: 'kind-icon' });
  #points = h('span', { class: 'points', hidden: true });
  #about = h('span', { class: 'about' });
  #state = h('span', { class: 'state' });
  #away = h('span', { class: 'away' });
  #more;
  #said = h('p', { class: 'more says', hidden: true });
  #saying: ReturnType<typeof setTimeout> | undefined;
  #tally = h('span', { class: 'tally', hidden: true });
  #clock = new ClockFace();
  element;

  constructor(piece: Element) {
    this.#more = h('p', { class: 'more' }, this.#about, this.#away, this.#tally);
    this.element = h(
      'div',
      { class: 'player' },
      piece,
      h(
        'div',
        { class: 'who' },
        h('p', { class: 'names' }, this.#kind, this.#name, this.#rating, this.#points, this.#state),
        this.#more,
        this.#said,
      ),
      this.#clock.element,
    );
  }

  show(
    match: Match,
    number: number,
    seat: Seat,
    { name, rating }: { name: string; rating: string },
    onTurn: boolean,
  ) {
    const you = match.you === number;
    this.#showName(seat, name);
    const change = match.changes?.find((change) => change.seat === number);
    setText(this.#rating, [rating, change && ratingChangeText(change)].filter(Boolean).join(' '));
    const { series } = match;
    this.#points.hidden = !series;
    if (series) {
      const mine = formatPoints(series.points[number] ?? 0);
      setText(this.#points, mine);
      this.#points.title = translate('players.points', { points: mine, count: series.game });
    }
    const kind = seat.occupant === 'bot' ? ROBOT : seat.occupant === 'player' ? PERSON : '';
    if (this.#kind.dataset.kind !== seat.occupant) {
      this.#kind.dataset.kind = seat.occupant;
      replaceChildren(this.#kind, kind && icon(kind));
    }
    const isBot = seat.occupant === 'bot';
    const whose = you ? translate('players.you') : isBot ? translate('players.bot') : '';
    setText(this.#about, [sideName(seat.side), whose].filter(Boolean).join(' · '));
    const won = match.outcome?.winner === number;
    const lost = match.outcome && match.outcome.winner === 1 - number;
    const drew = match.status === 'ended' && !won && !lost;
    setText(
      this.#state,
      won
        ? translate('players.won')
        : lost
          ? translate('players.lost')
          : onTurn && !drew && !match.clock
            ? translate('players.turn')
            : '',
    );
    this.element.classList.toggle('on-turn', onTurn);
    this.element.classList.toggle('won', won);
    this.element.classList.toggle('open', seat.occupant === 'open');
  }

  /** Shows for a while what they say, in place of what else is told of them. */
  showChatMessage(text: string) {
    clearTimeout(this.#saying);
    replaceChildren(this.#said, h('bdi', {}, text));
    this.#said.title = text;
    this.#said.hidden = false;
    this.#more.hidden = true;
    const later = Math.max(SAID_MS, text.length * SAID_MS_PER_CHARACTER);
    this.#saying = setTimeout(() => {
      this.#said.hidden = true;
      this.#more.hidden = false;
    }, later);
  }

  #showName(seat: Seat, name: string) {
    const page = seatProfilePath(seat);
    const drawn = JSON.stringify([name, page]);
    if (this.#name.dataset.drawn === drawn) return;
    this.#name.dataset.drawn = drawn;
    replaceChildren(this.#name, page ? h('a', { class: 'person', href: page }, name) : name);
  }

  /** @param isBelow whether it stands below the board */
  setBelowBoard(isBelow: boolean) {
    this.element.classList.toggle('below', isBelow);
    this.element.classList.toggle('above', !isBelow);
  }

  /** @param tally what this seat has brought about */
  showTally(
    board: Board,
    { text: says, pieces = [], shortText: shown = '' }: Tally = { text: '' },
  ) {
    if (this.#tally.dataset.says === says) return;
    this.#tally.dataset.says = says;
    this.#tally.hidden = says === '';
    // What is drawn is said for those who do not see it.
    const drawn = pieces.map((piece) => drawPieceIcon(board, piece));
    replaceChildren(
      this.#tally,
      ...drawn,
      shown && h('span', { class: 'lead', 'aria-hidden': true }, shown),
      h('span', { class: drawn.length > 0 || shown ? 'unseen' : '' }, says),
    );
  }

  showClock(shown: ClockReading | null, { clock }: Match, connected: boolean) {
    this.#clock.show(shown, clock, this.#name.textContent ?? '', connected);
  }

  showAbsence(text: string) {
    setText(this.#away, text);
    this.element.classList.toggle('gone', text !== '');
  }
}
