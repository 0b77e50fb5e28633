// The chat panel: messages, presets, text input, and buttons to mute and block.

import { RequestError } from '../net/connection.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { seatOwner } from '../model/match.ts';
import { blockButton } from '../people/block-button.ts';
import { setStored } from '../ui/storage.ts';
import { isMuted, mutedSenders, senderOf, chatText } from './chat-state.ts';
import { isChatEnabled } from './chat.ts';
import { errorText } from '../text/phrases.ts';

import type { ChatEntry, ChatPresetText } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** The server's limit for the length of a message, in Unicode scalar values. */
const TEXT_CHARACTERS_MAX = 140;
/** Maximum number of stored muted senders; the oldest are dropped. */
const MUTED_MAX = 200;

export class ChatPanel {
  element = h('section', {
    class: 'talk-panel',
    'aria-label': translate('talk.label'),
    hidden: true,
  });
  #app;
  #opener;
  #match: Match | null = null;
  #messages = h('ul', { class: 'said', tabindex: '0', 'aria-label': translate('talk.said') });
  #presets = h('div', { class: 'presets', role: 'group', 'aria-label': translate('talk.presets') });
  #textInput = h('input', {
    id: 'talk-text',
    autocomplete: 'off',
    maxlength: 2 * TEXT_CHARACTERS_MAX,
  });
  #form = h(
    'form',
    { class: 'row', onsubmit: (event: Event) => void this.#onSubmit(event) },
    h('label', { for: 'talk-text', class: 'unseen' }, translate('talk.text')),
    this.#textInput,
    h('button', {}, translate('talk.send')),
  );
  #note = h('p', { class: 'note' });
  #error = h('p', { class: 'trouble', role: 'alert' });
  #senderButtons = h('div', { class: 'row people' });
  #blockButton: { player: string; button: HTMLElement } | null = null;
  /** Data of the drawn messages and buttons. Drawing again would lose the focus. */
  #drawnKey = '';

  /** @param opener button that gets the focus when the panel closes */
  constructor(app: App, opener: HTMLElement) {
    this.#app = app;
    this.#opener = opener;
    const close = h(
      'button',
      { type: 'button', onclick: () => this.close() },
      translate('dialog.close'),
    );
    replaceChildren(
      this.element,
      this.#messages,
      this.#presets,
      this.#form,
      this.#note,
      this.#error,
      h('div', { class: 'row foot' }, this.#senderButtons, close),
    );
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.close();
    });
    this.#drawPresets();
  }

  get isOpen() {
    return !this.element.hidden;
  }

  open(match: Match) {
    this.element.hidden = false;
    this.#opener.setAttribute('aria-expanded', 'true');
    setText(this.#error, '');
    this.show(match);
    this.#messages.scrollTop = this.#messages.scrollHeight;
    const first = this.element.querySelector('.presets:not([hidden]) button, .foot > button');
    if (first instanceof HTMLElement) first.focus({ preventScroll: true });
  }

  close() {
    if (!this.isOpen) return;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = true;
    this.#opener.setAttribute('aria-expanded', 'false');
    if (hadFocus) this.#opener.focus({ preventScroll: true });
  }

  show(match: Match) {
    this.#match = match;
    if (!this.isOpen) return;
    const isEnabled = isChatEnabled(this.#app);
    const isSeated = match.you !== null;
    const canWrite = isEnabled && (isSeated || match.status === 'ended');
    this.#presets.hidden = !canWrite;
    this.#form.hidden = !isSeated || this.#app.connection.welcome?.chat !== 'text';
    setText(
      this.#note,
      !isEnabled ? translate('talk.off') : canWrite ? '' : translate('talk.later'),
    );
    const senders = isEnabled ? otherSenders(match, this.#app.player?.name) : [];
    const key = JSON.stringify([match.match, match.said, senders, mutedSenders()]);
    if (key === this.#drawnKey) return;
    this.#drawnKey = key;
    this.#drawMessages(match);
    const focused = this.#senderButtons.querySelector(':focus')?.getAttribute('data-speaker');
    replaceChildren(
      this.#senderButtons,
      ...senders.map((sender) => this.#muteButton(sender)),
      this.#drawBlockButton(match),
    );
    for (const button of this.#senderButtons.querySelectorAll('button')) {
      if (button.dataset['speaker'] === focused) button.focus();
    }
  }

  #drawMessages(match: Match) {
    const presets = this.#app.connection.welcome?.presets ?? [];
    const messages = match.said.filter((message) => !isMuted(match, message));
    replaceChildren(
      this.#messages,
      ...messages.map((message) =>
        h('li', {}, h('bdi', {}, message.name), ' ', h('bdi', {}, chatText(message, presets))),
      ),
    );
    this.#messages.hidden = messages.length === 0;
    this.#messages.scrollTop = this.#messages.scrollHeight;
  }

  #drawPresets() {
    const presets = this.#app.connection.welcome?.presets ?? [];
    const button = ({ preset, text }: ChatPresetText) => {
      const message = { seat: null, name: '', preset, text };
      const onclick = async () => {
        if (await this.#sendMessage({ preset })) this.close();
      };
      return h('button', { type: 'button', onclick }, chatText(message, presets));
    };
    replaceChildren(this.#presets, ...presets.map(button));
  }

  /** Button to block the opponent; the element is reused for the same opponent. */
  #drawBlockButton(match: Match) {
    const opponent = match.you === null ? null : seatOwner(match, 1 - match.you);
    if (!opponent) return null;
    if (this.#blockButton?.player !== opponent.player)
      this.#blockButton = { player: opponent.player, button: blockButton(this.#app, opponent) };
    return this.#blockButton.button;
  }

  #muteButton({ id, name }: { id: string; name: string }) {
    const muted = mutedSenders().includes(id);
    const onclick = () => {
      setMuted(id, !muted);
      this.#app.update();
    };
    return h(
      'button',
      { type: 'button', class: 'quiet', 'data-speaker': id, onclick },
      translate(muted ? 'talk.unmute' : 'talk.mute', { name }),
    );
  }

  async #onSubmit(event: Event) {
    event.preventDefault();
    const text = this.#textInput.value.trim().normalize();
    if (text === '') return;
    if ([...text].length > TEXT_CHARACTERS_MAX) {
      return setText(this.#error, translate('talk.long', { most: TEXT_CHARACTERS_MAX }));
    }
    if (await this.#sendMessage({ text })) this.#textInput.value = '';
    this.#textInput.focus();
  }

  /** Sends a chat message and shows the error if that fails. */
  async #sendMessage(content: { preset: string } | { text: string }): Promise<boolean> {
    const match = this.#match;
    if (!match) return false;
    try {
      await this.#app.connection.request({ type: 'say', match: match.match, ...content });
      setText(this.#error, '');
      return true;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      setText(this.#error, errorText(error));
      return false;
    }
  }
}

/** The players and the authors of messages, except the user. */
function otherSenders(match: Match, ownName: string | undefined) {
  const seated: ChatEntry[] = [0, 1].flatMap((seat) => {
    const owner = seatOwner(match, seat);
    return owner && seat !== match.you ? [{ seat, name: owner.name }] : [];
  });
  const all = [...seated, ...match.said].filter(({ seat, name }) =>
    seat === null ? name !== ownName : seat !== match.you,
  );
  const names = new Map(all.map((entry) => [senderOf(match, entry), entry.name]));
  return [...names].map(([id, name]) => ({ id, name }));
}

function setMuted(sender: string, muted: boolean) {
  const others = mutedSenders().filter((id) => id !== sender);
  const all = muted ? [...others, sender] : others;
  setStored('muted', JSON.stringify(all.slice(-MUTED_MAX)));
}
