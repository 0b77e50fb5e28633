// What a bot thinks while it thinks, where a match tells it: beside the board, at a place that is kept for it.

import { h } from './dom.js';
import { come } from './wanted.js';

/** @import { Thinking as Told } from '../protocol.js' */
/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

export class Thinking {
  place = h('div', { class: 'thinking', hidden: true });
  #app;
  /** @type {import('./seldom/thinking-panel.js').ThinkingPanel | null} */
  #panel = null;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
  }

  /** @param {Match} match */
  show(match) {
    // Of what has been thought long ago nothing is told.
    const told = this.#toldOf(match);
    const isShown = match.thinking === true && (match.status !== 'ended' || told !== null);
    if (isShown && this.place.hidden) void this.#come(match);
    this.place.hidden = !isShown;
  }

  /** @param {Told} told */
  hear(told) {
    this.#panel?.show(told);
  }

  /** What was told last, which may have come before what shows it. @param {Match} match */
  #toldOf({ match }) {
    const told = this.#app.thought;
    return told?.match === match ? told : null;
  }

  /** @param {Match} match */
  async #come(match) {
    const seldom = this.#panel ? null : await come(this.#app);
    if (!seldom || this.#panel) return;
    this.#panel = new seldom.ThinkingPanel(match);
    this.place.replaceChildren(this.#panel.element);
    const told = this.#toldOf(match);
    if (told) this.#panel.show(told);
  }
}
