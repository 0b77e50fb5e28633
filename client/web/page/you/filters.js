// Which of one's games that are over are shown: of which game, how they ended, and against whom.

import { opponents } from '../challenging.js';
import { fill, h } from '../dom.js';
import { say } from '../language.js';
import { personIn } from '../match.js';

/** @import { HistoryRow, Request } from '../../protocol.js' */
/** @import { App } from '../main.js' */

/** @typedef {Pick<Extract<Request, { type: 'history' }>, 'game' | 'result' | 'with'>} Filter */

/** So many whom one has played can be chosen from. */
const PEOPLE = 50;

export class Filters {
  element = h('div', { class: 'row fields filters' });
  #app;
  #game;
  #result;
  #with;
  /** Whom one has played, by their ids. @type {Map<string, string>} */
  #people = new Map(opponents().map(({ player, name }) => [player, name]));
  #drawn = '';

  /** @param {App} app @param {() => void} changed */
  constructor(app, changed) {
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

  /** @returns {Filter} */
  get chosen() {
    const [game, result, opponent] = [this.#game.value, this.#result.value, this.#with.value];
    return {
      ...(game ? { game } : {}),
      ...(result ? { result: /** @type {NonNullable<Filter['result']>} */ (result) } : {}),
      ...(opponent ? { with: opponent } : {}),
    };
  }

  /** Whom one has played can be chosen. @param {HistoryRow[]} rows */
  learn(rows) {
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

/** @param {string} value @param {string} title */
const option = (value, title) => h('option', { value }, title);

/** @param {string} label @param {HTMLElement} list */
const field = (label, list) => h('label', { class: 'field' }, h('span', {}, label), list);

/** Offers something else, and leaves chosen what is. @param {HTMLSelectElement} list @param {...HTMLElement} options */
function redraw(list, ...options) {
  const { value } = list;
  fill(list, ...options);
  list.value = value;
  if (list.selectedIndex < 0) list.value = '';
}
