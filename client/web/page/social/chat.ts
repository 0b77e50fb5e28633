// The way to what can be said beside the board, and to whoever sits opposite. What opens is loaded when somebody
// wants it.

import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { seatOwner } from '../model/match.ts';
import { isMuted, chatText } from './chat-state.ts';
import { icon } from '../app/header-toggles.ts';
import { tryLoadLazyChunk } from '../app/lazy.ts';

import type { ChatEntry } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';
import type { ChatPanel } from './chat-panel.ts';

const BUBBLE =
  'M5 5h14a1.500 1.500 0 0 1 1.500 1.500v8A1.500 1.500 0 0 1 19 16h-8l-5 4v-4H5a1.500 1.500 0 0 1-1.500-1.500v-8A1.500 1.500 0 0 1 5 5z';

export class Chat {
  button = h('button', {
    ...{ type: 'button', class: 'quiet round talk', hidden: true },
    ...{ 'aria-expanded': 'false', onclick: () => void this.#open() },
  });
  /** What opens over the moves. */
  panelContainer = h('div', { class: 'talk-place' });
  #app;
  #match: Match | null = null;
  #panel: ChatPanel | null = null;
  #unread = 0;

  constructor(app: App) {
    this.#app = app;
    replaceChildren(this.button, icon(BUBBLE));
    this.#call();
  }

  show(match: Match) {
    this.#match = match;
    const isOn = isChatEnabled(this.#app);
    const isHeard = match.spectators > 0 || match.said.length > 0;
    this.button.hidden = match.status === 'open' || !(opponents(match) || (isOn && isHeard));
    if (this.button.hidden) this.#panel?.close();
    this.#panel?.show(match);
  }

  /**
   * Somebody has said something in the match that is shown.
   * @returns what is to be heard of it, if anything is
   */
  onChat(match: Match, line: ChatEntry): string {
    if (line.seat !== null && line.seat === match.you) return '';
    if (isMuted(match, line)) return '';
    if (!this.#panel?.isOpen) this.#unread += 1;
    this.#call();
    return chatText(line, this.#app.connection.welcome?.presets ?? []);
  }

  #call() {
    const label =
      this.#unread > 0 ? translate('talk.new', { count: this.#unread }) : translate('talk.label');
    this.button.setAttribute('aria-label', label);
    this.button.title = label;
    this.button.classList.toggle('unread', this.#unread > 0);
  }

  async #open() {
    if (this.#panel?.isOpen) return this.#panel.close();
    if (!this.#panel) {
      const seldom = await tryLoadLazyChunk(this.#app);
      if (!seldom) return;
      this.#panel ??= new seldom.ChatPanel(this.#app, this.button);
      replaceChildren(this.panelContainer, this.#panel.element);
    }
    if (!this.#match) return;
    this.#unread = 0;
    this.#call();
    this.#panel.open(this.#match);
  }
}

/** Whether anything may be said on this server. */
export function isChatEnabled({ connection }: App) {
  const chat = connection.welcome?.chat;
  return chat !== undefined && chat !== 'off';
}

/** Whether another person plays in it. */
const opponents = (match: Match) =>
  [0, 1].some((seat) => seat !== match.you && seatOwner(match, seat) !== null);
