// All of one's games: those that are played, and below those that are over, newest first.

import { h } from '../ui/dom.ts';
import { formatDate, translate } from '../text/language.ts';
import { MyGames, toMatchRow } from '../lobby/my-games.ts';
import { MatchListSection } from '../lobby/match-rows.ts';
import { GameFilters } from './game-filters.ts';
import { NotificationToggle } from './notification-toggle.ts';

import type { HistoryRow, Message } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { MatchRow } from '../lobby/match-rows.ts';

/** So many are shown before one asks for more. */
const PAGE = 20;
/** What is left of the time is told anew after so long. */
const TICK_MS = 1000;

export class GameHistoryPage {
  #app;
  #live;
  #ended;
  #more = h('button', { type: 'button', hidden: true }, translate('games.more'));
  #filters;
  #notify;
  #ticking: ReturnType<typeof setInterval>;
  #rows: HistoryRow[] = [];
  /** What was asked last; what was asked before it is old. */
  #asked = 0;
  element;

  constructor(app: App) {
    this.#app = app;
    this.#live = new MyGames(app, { ticks: true });
    this.#notify = new NotificationToggle(app);
    this.#filters = new GameFilters(app, () => void this.#ask());
    const go = ({ match }: { match: string }) => app.navigate(`/m/${match}`);
    // Whether there are none is known with the first answer.
    this.#ended = new MatchListSection(translate('games.ended'), '', go);
    this.#more.addEventListener('click', () => void this.#ask(this.#rows.at(-1)?.match));
    this.element = h(
      'div',
      { class: 'you' },
      h('h1', {}, translate('games.title')),
      this.#live.element,
      this.#notify.element,
      h('div', { class: 'over' }, this.#filters.element, this.#ended.element),
      this.#more,
    );
    this.#ticking = setInterval(() => this.#live.update(), TICK_MS);
  }

  title() {
    return `${translate('games.title')} – Plyhouse`;
  }

  update() {
    this.#live.update();
    this.#notify.update();
    this.#filters.update();
  }

  onWelcome() {
    void this.#ask();
  }

  onMessage(message: Message) {
    if (message.type === 'ended') void this.#ask();
  }

  unmount() {
    clearInterval(this.#ticking);
  }

  /** Shows the first page, or what comes after this match. */
  async #ask(before?: string) {
    const asked = ++this.#asked;
    const filter = this.#filters.selected;
    const after = before === undefined ? {} : { before };
    const answer = await this.#app.request({
      type: 'history',
      limit: PAGE,
      ...filter,
      ...after,
    });
    if (!answer || asked !== this.#asked) return;
    const hadFocus = document.activeElement === this.#more;
    const shown = before === undefined ? 0 : this.#rows.length;
    this.#rows = [...this.#rows.slice(0, shown), ...answer.rows];
    this.#filters.addOpponents(answer.rows);
    this.#ended.emptyText = translate(
      Object.keys(filter).length > 0 ? 'games.none.so' : 'games.none',
    );
    const isAll = filter.result !== undefined;
    const looked = (row: HistoryRow) => isAll || !isQuestion(row);
    this.#ended.show(this.#rows.filter(looked).map((row) => endedGameRow(this.#app, row)));
    this.#more.hidden = !answer.more;
    if (hadFocus) this.#ended.focus(this.#rows.slice(0, shown).filter(looked).length);
  }
}

/** Whether a bot was only asked what it would play: that is no game to be looked for. */
const isQuestion = ({ plies, seats, you }: HistoryRow) =>
  plies < 2 && seats[1 - you]?.occupant === 'bot';

/** A game that is over, by whose seat it is told. */
export function endedGameRow(app: App, row: HistoryRow): MatchRow {
  const result = resultOf(row);
  const line = toMatchRow(
    app,
    row,
    translate('games.show'),
    // A number stays with what it counts.
    translate('list.moves', { count: row.plies }).replace(' ', '\u00a0'),
    formatDate(row.ended_ms),
  );
  const came = translate(`games.${result}`);
  const about = `${came} · ${line.about}`;
  // One knows oneself.
  const theirs = (both: any[]) => both.slice(1 - row.you, 2 - row.you);
  return {
    ...line,
    names: theirs(line.names),
    profileLinks: theirs(line.profileLinks ?? []),
    about,
    result,
  };
}

/** What it came to for oneself. */
function resultOf({ outcome: { winner, reason }, you }: HistoryRow) {
  if (reason === 'aborted') return 'off';
  if (winner === null) return 'drawn';
  return winner === you ? 'won' : 'lost';
}
