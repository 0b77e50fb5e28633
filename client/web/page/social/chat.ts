// The chat button of a match, which counts unread messages and loads the chat panel on demand.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { seatOwner } from '../model/match.ts';
import { isMuted, chatText } from './chat-state.ts';
import { icon } from '../app/header-toggles.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { ChatEntry } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { ChatPanel } from './chat-panel.ts';

const BUBBLE =
  'M5 5h14a1.500 1.500 0 0 1 1.500 1.500v8A1.500 1.500 0 0 1 19 16h-8l-5 4v-4H5a1.500 1.500 0 0 1-1.500-1.500v-8A1.500 1.500 0 0 1 5 5z';

export class Chat {
  button = h('button', {
    type: 'button',
    class: 'quiet round talk',
    hidden: true,
    'aria-expanded': 'false',
    onclick: () => void this.#open(),
  });
  /** container of the chat panel, which covers the moves */
  panelContainer = h('div', { class: 'talk-place' });
  #app;
  #match: Match | null = null;
  #panel: ChatPanel | null = null;
  #unreadCount = 0;

  constructor(app: App) {
    this.#app = app;
    replaceChildren(this.button, icon(BUBBLE));
    this.#updateLabel();
  }

  show(match: Match) {
    this.#match = match;
    const isEnabled = isChatEnabled(this.#app);
    const hasAudience = match.spectators > 0 || match.said.length > 0;
    this.button.hidden =
      match.status === 'open' || !(hasOtherPlayer(match) || (isEnabled && hasAudience));
    if (this.button.hidden) this.#panel?.close();
    this.#panel?.show(match);
  }

  /**
   * Counts a message of another user.
   * @returns its text; empty if the message is the user's own or muted
   */
  onChat(match: Match, message: ChatEntry): string {
    if (message.seat !== null && message.seat === match.you) return '';
    if (isMuted(match, message)) return '';
    if (!this.#panel?.isOpen) this.#unreadCount += 1;
    this.#updateLabel();
    return chatText(message, this.#app.connection.welcome?.presets ?? []);
  }

  #updateLabel() {
    const label =
      this.#unreadCount > 0
        ? translate('talk.new', { count: this.#unreadCount })
        : translate('talk.label');
    this.button.setAttribute('aria-label', label);
    this.button.title = label;
    this.button.classList.toggle('unread', this.#unreadCount > 0);
  }

  async #open() {
    if (this.#panel?.isOpen) return this.#panel.close();
    if (!this.#panel) {
      const chunk = await tryLoadLazyBundle(this.#app);
      if (!chunk) return;
      this.#panel ??= new chunk.ChatPanel(this.#app, this.button);
      replaceChildren(this.panelContainer, this.#panel.element);
    }
    if (!this.#match) return;
    this.#unreadCount = 0;
    this.#updateLabel();
    this.#panel.open(this.#match);
  }
}

export function isChatEnabled({ connection }: App) {
  const chat = connection.welcome?.chat;
  return chat !== undefined && chat !== 'off';
}

/** Whether a human other than the user plays. */
const hasOtherPlayer = (match: Match) =>
  [0, 1].some((seat) => seat !== match.you && seatOwner(match, seat) !== null);
