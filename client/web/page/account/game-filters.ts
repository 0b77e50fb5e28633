// Filters of the player's finished games by game, result and opponent.

import { recentOpponents } from '../social/send-challenge.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { seatOwner } from '../model/match.ts';

import type { HistoryRow, RequestOf } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export type HistoryFilter = Pick<RequestOf<'history'>, 'game' | 'result' | 'with'>;

/** Maximum number of opponents in the list. */
const OPPONENTS_MAX = 50;

export class GameFilters {
  element = h('div', { class: 'row fields filters' });
  #app;
  #game;
  #result;
  #opponent;
  /** Names by player id. */
  #opponents: Map<string, string> = new Map(
    recentOpponents().map(({ player, name }) => [player, name]),
  );
  #state = '';

  constructor(app: App, onChange: () => void) {
    this.#app = app;
    this.#game = h('select', { onchange: onChange });
    this.#result = h('select', { onchange: onChange });
    this.#opponent = h('select', { onchange: onChange });
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
      field(translate('games.with'), this.#opponent),
    );
  }

  get selected(): HistoryFilter {
    const [game, result, opponent] = [this.#game.value, this.#result.value, this.#opponent.value];
    return {
      ...(game ? { game } : {}),
      ...(result ? { result: result as NonNullable<HistoryFilter['result']> } : {}),
      ...(opponent ? { with: opponent } : {}),
    };
  }

  addOpponents(rows: HistoryRow[]) {
    for (const row of rows) {
      const opponent = seatOwner(row, 1 - row.you);
      if (opponent && this.#opponents.size < OPPONENTS_MAX)
        this.#opponents.set(opponent.player, opponent.name);
    }
    this.update();
  }

  update() {
    const games = this.#app.games.map(({ game, title }) => option(game, title));
    const opponents = [...this.#opponents].map(([player, name]) => option(player, name));
    const state = JSON.stringify([this.#app.games.length, [...this.#opponents]]);
    if (state === this.#state) return;
    this.#state = state;
    replaceOptions(this.#game, option('', translate('list.all')), ...games);
    const bots = option('bot', translate('games.bots'));
    replaceOptions(this.#opponent, option('', translate('games.anybody')), bots, ...opponents);
  }
}

const option = (value: string, title: string) => h('option', { value }, title);

const field = (label: string, list: HTMLElement) =>
  h('label', { class: 'field' }, h('span', {}, label), list);

/** Replaces the options, and keeps the selected value if it is still among them. */
function replaceOptions(list: HTMLSelectElement, ...options: HTMLElement[]) {
  const { value } = list;
  replaceChildren(list, ...options);
  list.value = value;
  if (list.selectedIndex < 0) list.value = '';
}
