// Renders the bar of one seat: name, rating, captured pieces, state and clock.

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

const BOT_ICON = 'M5 9h14v10H5zM12 5v4M12 5h.01M9 13.5v1M15 13.5v1M2.5 13v3M21.5 13v3';
const PERSON_ICON =
  'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20c.8-3.6 3.8-5.5 7.5-5.5s6.700 1.900 7.500 5.500';

/** Display time of a chat message, extended for long messages. */
const MESSAGE_MS = 8_000;
const MESSAGE_MS_PER_CHARACTER = 120;

export class PlayerBar {
  #name = h('bdi', { class: 'player-name' });
  #rating = h('span', { class: 'rating' });
  #kind = h('span', { class: 'kind-icon' });
  #points = h('span', { class: 'points', hidden: true });
  #about = h('span', { class: 'about' });
  #state = h('span', { class: 'state' });
  #away = h('span', { class: 'away' });
  #details;
  #message = h('p', { class: 'more says', hidden: true });
  #messageTimer: ReturnType<typeof setTimeout> | undefined;
  #tally = h('span', { class: 'tally', hidden: true });
  #clock = new ClockFace();
  element;

  constructor(piece: Element) {
    this.#details = h('p', { class: 'more' }, this.#about, this.#away, this.#tally);
    this.element = h(
      'div',
      { class: 'player' },
      piece,
      h(
        'div',
        { class: 'who' },
        h('p', { class: 'names' }, this.#kind, this.#name, this.#rating, this.#points, this.#state),
        this.#details,
        this.#message,
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
    const isYou = match.you === number;
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
    const iconPath =
      seat.occupant === 'bot' ? BOT_ICON : seat.occupant === 'player' ? PERSON_ICON : '';
    if (this.#kind.dataset.kind !== seat.occupant) {
      this.#kind.dataset.kind = seat.occupant;
      replaceChildren(this.#kind, iconPath && icon(iconPath));
    }
    const isBot = seat.occupant === 'bot';
    const role = isYou ? translate('players.you') : isBot ? translate('players.bot') : '';
    setText(this.#about, [sideName(seat.side), role].filter(Boolean).join(' · '));
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

  /** Shows a chat message for a while in place of the line with details. */
  showChatMessage(text: string) {
    clearTimeout(this.#messageTimer);
    replaceChildren(this.#message, h('bdi', {}, text));
    this.#message.title = text;
    this.#message.hidden = false;
    this.#details.hidden = true;
    const durationMs = Math.max(MESSAGE_MS, text.length * MESSAGE_MS_PER_CHARACTER);
    this.#messageTimer = setTimeout(() => {
      this.#message.hidden = true;
      this.#details.hidden = false;
    }, durationMs);
  }

  #showName(seat: Seat, name: string) {
    const path = seatProfilePath(seat);
    const renderedKey = JSON.stringify([name, path]);
    if (this.#name.dataset.drawn === renderedKey) return;
    this.#name.dataset.drawn = renderedKey;
    replaceChildren(this.#name, path ? h('a', { class: 'person', href: path }, name) : name);
  }

  setBelowBoard(isBelow: boolean) {
    this.element.classList.toggle('below', isBelow);
    this.element.classList.toggle('above', !isBelow);
  }

  showTally(board: Board, { text, pieces = [], shortText = '' }: Tally = { text: '' }) {
    if (this.#tally.dataset.says === text) return;
    this.#tally.dataset.says = text;
    this.#tally.hidden = text === '';
    // Screen readers get the text instead of the icons.
    const pieceIcons = pieces.map((piece) => drawPieceIcon(board, piece));
    replaceChildren(
      this.#tally,
      ...pieceIcons,
      shortText && h('span', { class: 'lead', 'aria-hidden': true }, shortText),
      h('span', { class: pieceIcons.length > 0 || shortText ? 'unseen' : '' }, text),
    );
  }

  showClock(reading: ClockReading | null, { clock }: Match, connected: boolean) {
    this.#clock.show(reading, clock, this.#name.textContent ?? '', connected);
  }

  showAbsence(text: string) {
    setText(this.#away, text);
    this.element.classList.toggle('gone', text !== '');
  }
}
