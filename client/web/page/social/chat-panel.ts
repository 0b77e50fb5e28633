// What can be said beside the board, what was said last, and whom one does not want to hear.

import { RequestError } from '../net/connection.ts';
import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { seatOwner } from '../model/match.ts';
import { blockButton } from '../people/block-button.ts';
import { setStored } from '../ui/storage.ts';
import { isMuted, mutedSenders, senderOf, chatText } from './chat-state.ts';
import { isChatEnabled } from './chat.ts';
import { errorText } from '../text/phrases.ts';

import type { ChatEntry } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** The server's bound on texts, in Unicode scalar values. */
const TEXT_CHARACTERS_MAX = 140;
/** So many who are not heard are remembered; the first are forgotten then. */
const MUTED = 200;

export class ChatPanel {
  element = h('section', {
    class: 'talk-panel',
    'aria-label': translate('talk.label'),
    hidden: true,
  });
  #app;
  #opener;
  #match: Match | null = null;
  #lines = h('ul', { class: 'said', tabindex: '0', 'aria-label': translate('talk.said') });
  #presets = h('div', { class: 'presets', role: 'group', 'aria-label': translate('talk.presets') });
  #text = h('input', { id: 'talk-text', autocomplete: 'off', maxlength: 2 * TEXT_CHARACTERS_MAX });
  #form = h(
    'form',
    { class: 'row', onsubmit: (event: Event) => void this.#send(event) },
    h('label', { for: 'talk-text', class: 'unseen' }, translate('talk.text')),
    this.#text,
    h('button', {}, translate('talk.send')),
  );
  #note = h('p', { class: 'note' });
  #trouble = h('p', { class: 'trouble', role: 'alert' });
  #people = h('div', { class: 'row people' });
  #blocking: { of: string; button: HTMLElement } | null = null;
  /** What is drawn; drawn anew, it would lose the focus. */
  #drawn = '';

  /** @param opener what has the focus again when it is closed */
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
      this.#lines,
      this.#presets,
      this.#form,
      this.#note,
      this.#trouble,
      h('div', { class: 'row foot' }, this.#people, close),
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
    setText(this.#trouble, '');
    this.show(match);
    this.#lines.scrollTop = this.#lines.scrollHeight;
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
    const isOn = isChatEnabled(this.#app);
    const isSeated = match.you !== null;
    const speaks = isOn && (isSeated || match.status === 'ended');
    this.#presets.hidden = !speaks;
    this.#form.hidden = !isSeated || this.#app.connection.welcome?.chat !== 'text';
    setText(this.#note, !isOn ? translate('talk.off') : speaks ? '' : translate('talk.later'));
    const others = isOn ? speakers(match, this.#app.player?.name) : [];
    const drawn = JSON.stringify([match.match, match.said, others, mutedSenders()]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#drawLines(match);
    const focused = this.#people.querySelector(':focus')?.getAttribute('data-speaker');
    replaceChildren(
      this.#people,
      ...others.map((one) => this.#muteButton(one)),
      this.#blockButton(match),
    );
    for (const button of this.#people.querySelectorAll('button')) {
      if (button.dataset['speaker'] === focused) button.focus();
    }
  }

  #drawLines(match: Match) {
    const presets = this.#app.connection.welcome?.presets ?? [];
    const lines = match.said.filter((line) => !isMuted(match, line));
    replaceChildren(
      this.#lines,
      ...lines.map((line) =>
        h('li', {}, h('bdi', {}, line.name), ' ', h('bdi', {}, chatText(line, presets))),
      ),
    );
    this.#lines.hidden = lines.length === 0;
    this.#lines.scrollTop = this.#lines.scrollHeight;
  }

  #drawPresets() {
    const presets = this.#app.connection.welcome?.presets ?? [];
    const button = ({ preset, text }: import('../net/protocol.ts').ChatPresetText) => {
      const line = { seat: null, name: '', preset, text };
      const onclick = async () => {
        if (await this.#say({ preset })) this.close();
      };
      return h('button', { type: 'button', onclick }, chatText(line, presets));
    };
    replaceChildren(this.#presets, ...presets.map(button));
  }

  /** Whom one plays one need not meet again. */
  #blockButton(match: Match) {
    const other = match.you === null ? null : seatOwner(match, 1 - match.you);
    if (!other) return null;
    if (this.#blocking?.of !== other.player)
      this.#blocking = { of: other.player, button: blockButton(this.#app, other) };
    return this.#blocking.button;
  }

  #muteButton({ id, name }: { id: string; name: string }) {
    const isOff = mutedSenders().includes(id);
    const onclick = () => {
      mute(id, !isOff);
      this.#app.update();
    };
    return h(
      'button',
      { type: 'button', class: 'quiet', 'data-speaker': id, onclick },
      translate(isOff ? 'talk.unmute' : 'talk.mute', { name }),
    );
  }

  async #send(event: Event) {
    event.preventDefault();
    const text = this.#text.value.trim().normalize();
    if (text === '') return;
    if ([...text].length > TEXT_CHARACTERS_MAX) {
      return setText(this.#trouble, translate('talk.long', { most: TEXT_CHARACTERS_MAX }));
    }
    if (await this.#say({ text })) this.#text.value = '';
    this.#text.focus();
  }

  /** @returns whether it was said */
  async #say(what: { preset: string } | { text: string }): Promise<boolean> {
    const match = this.#match;
    if (!match) return false;
    try {
      await this.#app.connection.request({ type: 'say', match: match.match, ...what });
      setText(this.#trouble, '');
      return true;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      setText(this.#trouble, errorText(error));
      return false;
    }
  }
}

/**
 * Who is to be heard: whoever plays, and whoever has said something; not oneself.
 * @param own name
 */
function speakers(match: Match, own: string | undefined) {
  const seated: ChatEntry[] = [0, 1].flatMap((seat) => {
    const person = seatOwner(match, seat);
    return person && seat !== match.you ? [{ seat, name: person.name }] : [];
  });
  const all = [...seated, ...match.said].filter(({ seat, name }) =>
    seat === null ? name !== own : seat !== match.you,
  );
  const known = new Map(all.map((line) => [senderOf(match, line), line.name]));
  return [...known].map(([id, name]) => ({ id, name }));
}

function mute(speaker: string, on: boolean) {
  const others = mutedSenders().filter((known) => known !== speaker);
  const all = on ? [...others, speaker] : others;
  setStored('muted', JSON.stringify(all.slice(-MUTED)));
}
