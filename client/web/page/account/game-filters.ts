// Which of one's games that are over are shown: of which game, how they ended, and against whom.

import { opponents } from '../social/challenge.ts';
import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { personIn } from '../model/match.ts';

import type { HistoryRow, RequestOf } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export type Filter = Pick<RequestOf<'history'>, 'game' | 'result' | 'with'>;

/** So many whom one has played can be chosen from. */
const PEOPLE = 50;

export class Filters {
  element = h('div', { class: 'row fields filters' });
  #app;
  #game;
  #result;
  #with;
  /** Whom one has played, by their ids. */
  #people: Map<string, string> = new Map(opponents().map(({ player, name }) => [player, name]));
  #drawn = '';

  constructor(app: App, changed: () => void) {
    this.#app = app;
    this.#game = h('select', { onchange: changed });
    this.#result = h('select', { onchange: changed });
    this.#with = h('select', { onchange: changed });
    fill(
      this.#result,
      option('', say('games.any')),
      option('won', say('games.won')),
      option('lost', say('games.lost')),
      option('drawn', say('games.drawn')),
      option('none', say('games.off')),
    );
    fill(
      this.element,
      field(say('lobby.game'), this.#game),
      field(say('games.result'), this.#result),
      field(say('games.with'), this.#with),
    );
  }

  get chosen(): Filter {
    const [game, result, opponent] = [this.#game.value, this.#result.value, this.#with.value];
    return {
      ...(game ? { game } : {}),
      ...(result ? { result: result as NonNullable<Filter['result']> } : {}),
      ...(opponent ? { with: opponent } : {}),
    };
  }

  /** Whom one has played can be chosen. */
  learn(rows: HistoryRow[]) {
    for (const row of rows) {
      const other = personIn(row, 1 - row.you);
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
    redraw(this.#game, option('', say('list.all')), ...games);
    const bots = option('bot', say('games.bots'));
    redraw(this.#with, option('', say('games.anybody')), bots, ...people);
  }
}

const option = (value: string, title: string) => h('option', { value }, title);

const field = (label: string, list: HTMLElement) =>
  h('label', { class: 'field' }, h('span', {}, label), list);

/** Offers something else, and leaves chosen what is. */
function redraw(list: HTMLSelectElement, ...options: HTMLElement[]) {
  const { value } = list;
  fill(list, ...options);
  list.value = value;
  if (list.selectedIndex < 0) list.value = '';
}
