// Page with the player's ongoing games and, newest first, the finished ones.

import { h } from '../ui/dom.ts';
import { formatDate, translate } from '../text/language.ts';
import { MyGames, toMatchRow } from '../lobby/my-games.ts';
import { MatchListSection } from '../lobby/match-rows.ts';
import { GameFilters } from './game-filters.ts';
import { NotificationToggle } from './notification-toggle.ts';

import type { HistoryRow } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Change } from '../app/store.ts';
import type { MatchRow } from '../lobby/match-rows.ts';

const PAGE_SIZE = 20;
/** Interval at which the page updates the remaining times. */
const TICK_MS = 1000;

export class GameHistoryPage {
  #app;
  #ongoing;
  #finished;
  #more = h('button', { type: 'button', hidden: true }, translate('games.more'));
  #filters;
  #notificationToggle;
  #timer: ReturnType<typeof setInterval>;
  #rows: HistoryRow[] = [];
  /** Number of the last request. The replies to earlier requests are ignored. */
  #lastRequest = 0;
  element;

  constructor(app: App) {
    this.#app = app;
    this.#ongoing = new MyGames(app, { ticks: true });
    this.#notificationToggle = new NotificationToggle(app);
    this.#filters = new GameFilters(app, () => void this.#load());
    const open = ({ match }: { match: string }) => app.navigate(`/m/${match}`);
    // The text for an empty list is set with the first reply.
    this.#finished = new MatchListSection(translate('games.ended'), '', open);
    this.#more.addEventListener('click', () => void this.#load(this.#rows.at(-1)?.match));
    this.element = h(
      'div',
      { class: 'you' },
      h('h1', {}, translate('games.title')),
      this.#ongoing.element,
      this.#notificationToggle.element,
      h('div', { class: 'over' }, this.#filters.element, this.#finished.element),
      this.#more,
    );
    this.#timer = setInterval(() => this.#ongoing.update(), TICK_MS);
  }

  title() {
    return `${translate('games.title')} – Plyhouse`;
  }

  update() {
    this.#ongoing.update();
    this.#notificationToggle.update();
    this.#filters.update();
  }

  onWelcome() {
    void this.#load();
  }

  onChange({ action }: Change) {
    if (action.type === 'ended') void this.#load();
  }

  unmount() {
    clearInterval(this.#timer);
  }

  /** Loads the first page, or the one after the match `before`. */
  async #load(before?: string) {
    const request = ++this.#lastRequest;
    const filter = this.#filters.selected;
    const reply = await this.#app.request({
      type: 'history',
      limit: PAGE_SIZE,
      ...filter,
      ...(before === undefined ? {} : { before }),
    });
    if (!reply || request !== this.#lastRequest) return;
    const hadFocus = document.activeElement === this.#more;
    const shown = before === undefined ? 0 : this.#rows.length;
    this.#rows = [...this.#rows.slice(0, shown), ...reply.rows];
    this.#filters.addOpponents(reply.rows);
    this.#finished.emptyText = translate(
      Object.keys(filter).length > 0 ? 'games.none.so' : 'games.none',
    );
    const isFiltered = filter.result !== undefined;
    const isListed = (row: HistoryRow) => isFiltered || !isBotSuggestion(row);
    this.#finished.show(this.#rows.filter(isListed).map((row) => endedGameRow(this.#app, row)));
    this.#more.hidden = !reply.more;
    if (hadFocus) this.#finished.focus(this.#rows.slice(0, shown).filter(isListed).length);
  }
}

/** Whether the match has the form of a bot's suggestion: at most one move, against a bot. */
const isBotSuggestion = ({ plies, seats, you }: HistoryRow) =>
  plies < 2 && seats[1 - you]?.occupant === 'bot';

/** The row of a finished game, from the point of view of the seat `row.you`. */
export function endedGameRow(app: App, row: HistoryRow): MatchRow {
  const result = resultOf(row);
  const base = toMatchRow(
    app,
    row,
    translate('games.show'),
    // A no-break space keeps the number and its noun on one line.
    translate('list.moves', { count: row.plies }).replace(' ', '\u00a0'),
    formatDate(row.ended_ms),
  );
  // The row names only the opponent.
  const opponentOf = <T>(bySeat: T[]) => bySeat.slice(1 - row.you, 2 - row.you);
  return {
    ...base,
    names: opponentOf(base.names),
    profileLinks: opponentOf(base.profileLinks ?? []),
    about: `${translate(`games.${result}`)} · ${base.about}`,
    result,
  };
}

function resultOf({ outcome: { winner, reason }, you }: HistoryRow) {
  if (reason === 'aborted') return 'off';
  if (winner === null) return 'drawn';
  return winner === you ? 'won' : 'lost';
}
