// Which of one's games that are over are shown: of which game, how they ended, and against whom.

import { recentOpponents } from '../social/send-challenge.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { seatOwner } from '../model/match.ts';

import type { HistoryRow, RequestOf } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export type HistoryFilter = Pick<RequestOf<'history'>, 'game' | 'result' | 'with'>;

/** So many whom one has played can be chosen from. */
const PEOPLE = 50;

export class GameFilters {
  element = h('div', { class: 'row fields filters' });
  #app;
  #game;
  #result;
  #with;
  /** Whom one has played, by their ids. */
  #people: Map<string, string> = new Map(
    recentOpponents().map(({ player, name }) => [player, name]),
  );
  #drawn = '';

  constructor(app: App, changed: () => void) {
    this.#app = app;
    this.#game = h('select', { onchange: changed });
    this.#result = h('select', { onchange: changed });
    this.#with = h('select', { onchange: changed });
    replaceChildren(
      this.#result,
      option('', translate('games.any')),
      option('won', translate('games.won')),
      option('lost', translate('games.lost')),
      option('drawn', translate('games.drawn')),
      option('none', translate('games.off')),
    );
    replaceChildren(
      this.element,
      field(translate('lobby.game'), this.#game),
      field(translate('games.result'), this.#result),
      field(translate('games.with'), this.#with),
    );
  }

  get selected(): HistoryFilter {
    const [game, result, opponent] = [this.#game.value, this.#result.value, this.#with.value];
    return {
      ...(game ? { game } : {}),
      ...(result ? { result: result as NonNullable<HistoryFilter['result']> } : {}),
      ...(opponent ? { with: opponent } : {}),
    };
  }

  /** Whom one has played can be chosen. */
  addOpponents(rows: HistoryRow[]) {
    for (const row of rows) {
      const other = seatOwner(row, 1 - row.you);
      if (other && this.#people.size < PEOPLE) this.#people.set(other.player, other.name);
    }
    this.update();
  }

  update() {
    const games = this.#app.games.map(({ game, title }) => option(game, title));
    const people = [...this.#people].map(([player, name]) => option(player, name));
    const drawn = JSON.stringify([this.#app.games.length, [...this.#people]]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    redraw(this.#game, option('', translate('list.all')), ...games);
    const bots = option('bot', translate('games.bots'));
    redraw(this.#with, option('', translate('games.anybody')), bots, ...people);
  }
}

const option = (value: string, title: string) => h('option', { value }, title);

const field = (label: string, list: HTMLElement) =>
  h('label', { class: 'field' }, h('span', {}, label), list);

/** Offers something else, and leaves chosen what is. */
function redraw(list: HTMLSelectElement, ...options: HTMLElement[]) {
  const { value } = list;
  replaceChildren(list, ...options);
  list.value = value;
  if (list.selectedIndex < 0) list.value = '';
}
