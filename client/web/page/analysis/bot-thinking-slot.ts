// Shows the search output of a bot beside the board, in matches that publish it.

import { h } from '../ui/dom.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { Thinking } from '../net/protocol.ts';
import type { BotThinkingPanel } from './bot-thinking-panel.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export class BotThinkingSlot {
  panelContainer = h('div', { class: 'thinking', hidden: true });
  #app;
  #panel: BotThinkingPanel | null = null;

  constructor(app: App) {
    this.#app = app;
  }

  show(match: Match) {
    // After the end, the place is only kept if there is output.
    const thinking = this.#lastThinking(match);
    const isShown = match.thinking === true && (match.status !== 'ended' || thinking !== null);
    if (isShown && this.panelContainer.hidden) void this.#loadPanel(match);
    this.panelContainer.hidden = !isShown;
  }

  onThinking(thinking: Thinking) {
    this.#panel?.show(thinking);
  }

  /** Last output for this match. It may arrive before the panel is loaded. */
  #lastThinking({ match }: Match) {
    const { lastThinking } = this.#app;
    return lastThinking?.match === match ? lastThinking : null;
  }

  async #loadPanel(match: Match) {
    const lazy = this.#panel ? null : await tryLoadLazyBundle(this.#app);
    if (!lazy || this.#panel) return;
    this.#panel = new lazy.BotThinkingPanel(match);
    this.panelContainer.replaceChildren(this.#panel.element);
    const thinking = this.#lastThinking(match);
    if (thinking) this.#panel.show(thinking);
  }
}
