// What a bot thinks while it thinks, where a match tells it: beside the board, at a place that is kept for it.

import { h } from '../ui/dom.ts';
import { tryLoadLazyChunk } from '../app/lazy.ts';

import type { Thinking as Told } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export class EngineOutput {
  panelContainer = h('div', { class: 'thinking', hidden: true });
  #app;
  #panel: import('./engine-panel.ts').EnginePanel | null = null;

  constructor(app: App) {
    this.#app = app;
  }

  show(match: Match) {
    // Of what has been thought long ago nothing is told.
    const told = this.#toldOf(match);
    const isShown = match.thinking === true && (match.status !== 'ended' || told !== null);
    if (isShown && this.panelContainer.hidden) void this.#come(match);
    this.panelContainer.hidden = !isShown;
  }

  onThinking(told: Told) {
    this.#panel?.show(told);
  }

  /** What was told last, which may have come before what shows it. */
  #toldOf({ match }: Match) {
    const told = this.#app.lastThinking;
    return told?.match === match ? told : null;
  }

  async #come(match: Match) {
    const seldom = this.#panel ? null : await tryLoadLazyChunk(this.#app);
    if (!seldom || this.#panel) return;
    this.#panel = new seldom.EnginePanel(match);
    this.panelContainer.replaceChildren(this.#panel.element);
    const told = this.#toldOf(match);
    if (told) this.#panel.show(told);
  }
}
