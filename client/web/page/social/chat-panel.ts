// What can be said beside the board, what was said last, and whom one does not want to hear.

import { Refusal } from '../net/connection.ts';
import { fill, h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { personIn } from '../model/match.ts';
import { blockButton } from '../people/block-button.ts';
import { remember } from '../ui/storage.ts';
import { isMuted, muted, speakerOf, wordsOf } from './chat-state.ts';
import { isTalking } from './chat.ts';
import { refusalText } from '../text/phrases.ts';

import type { Said } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

/** The server's bound on texts, in Unicode scalar values. */
const TEXT_CHARACTERS_MAX = 140;
/** So many who are not heard are remembered; the first are forgotten then. */
const MUTED = 200;

export class TalkPanel {
  element = h('section', { class: 'talk-panel', 'aria-label': say('talk.label'), hidden: true });
  #app;
  #opener;
  #match: Match | null = null;
  #lines = h('ul', { class: 'said', tabindex: '0', 'aria-label': say('talk.said') });
  #presets = h('div', { class: 'presets', role: 'group', 'aria-label': say('talk.presets') });
  #text = h('input', { id: 'talk-text', autocomplete: 'off', maxlength: 2 * TEXT_CHARACTERS_MAX });
  #form = h(
    'form',
    { class: 'row', onsubmit: (event: Event) => void this.#send(event) },
    h('label', { for: 'talk-text', class: 'unseen' }, say('talk.text')),
    this.#text,
    h('button', {}, say('talk.send')),
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
    const close = h('button', { type: 'button', onclick: () => this.close() }, say('dialog.close'));
    fill(
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
    write(this.#trouble, '');
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
    const isOn = isTalking(this.#app);
    const isSeated = match.you !== null;
    const speaks = isOn && (isSeated || match.status === 'ended');
    this.#presets.hidden = !speaks;
    this.#form.hidden = !isSeated || this.#app.connection.welcome?.chat !== 'text';
    write(this.#note, !isOn ? say('talk.off') : speaks ? '' : say('talk.later'));
    const others = isOn ? speakers(match, this.#app.player?.name) : [];
    const drawn = JSON.stringify([match.match, match.said, others, muted()]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#drawLines(match);
    const focused = this.#people.querySelector(':focus')?.getAttribute('data-speaker');
    fill(this.#people, ...others.map((one) => this.#muteButton(one)), this.#blockButton(match));
    for (const button of this.#people.querySelectorAll('button')) {
      if (button.dataset['speaker'] === focused) button.focus();
    }
  }

  #drawLines(match: Match) {
    const presets = this.#app.connection.welcome?.presets ?? [];
    const lines = match.said.filter((line) => !isMuted(match, line));
    fill(
      this.#lines,
      ...lines.map((line) =>
        h('li', {}, h('bdi', {}, line.name), ' ', h('bdi', {}, wordsOf(line, presets))),
      ),
    );
    this.#lines.hidden = lines.length === 0;
    this.#lines.scrollTop = this.#lines.scrollHeight;
  }

  #drawPresets() {
    const presets = this.#app.connection.welcome?.presets ?? [];
    const button = ({ preset, text }: import('../net/protocol.ts').Preset) => {
      const line = { seat: null, name: '', preset, text };
      const onclick = async () => {
        if (await this.#say({ preset })) this.close();
      };
      return h('button', { type: 'button', onclick }, wordsOf(line, presets));
    };
    fill(this.#presets, ...presets.map(button));
  }

  /** Whom one plays one need not meet again. */
  #blockButton(match: Match) {
    const other = match.you === null ? null : personIn(match, 1 - match.you);
    if (!other) return null;
    if (this.#blocking?.of !== other.player)
      this.#blocking = { of: other.player, button: blockButton(this.#app, other) };
    return this.#blocking.button;
  }

  #muteButton({ id, name }: { id: string; name: string }) {
    const isOff = muted().includes(id);
    const onclick = () => {
      mute(id, !isOff);
      this.#app.update();
    };
    return h(
      'button',
      { type: 'button', class: 'quiet', 'data-speaker': id, onclick },
      say(isOff ? 'talk.unmute' : 'talk.mute', { name }),
    );
  }

  async #send(event: Event) {
    event.preventDefault();
    const text = this.#text.value.trim().normalize();
    if (text === '') return;
    if ([...text].length > TEXT_CHARACTERS_MAX) {
      return write(this.#trouble, say('talk.long', { most: TEXT_CHARACTERS_MAX }));
    }
    if (await this.#say({ text })) this.#text.value = '';
    this.#text.focus();
  }

  /** @returns whether it was said */
  async #say(what: { preset: string } | { text: string }): Promise<boolean> {
    const match = this.#match;
    if (!match) return false;
    try {
      await this.#app.connection.ask({ type: 'say', match: match.match, ...what });
      write(this.#trouble, '');
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      write(this.#trouble, refusalText(error));
      return false;
    }
  }
}

/**
 * Who is to be heard: whoever plays, and whoever has said something; not oneself.
 * @param own name
 */
function speakers(match: Match, own: string | undefined) {
  const seated: Said[] = [0, 1].flatMap((seat) => {
    const person = personIn(match, seat);
    return person && seat !== match.you ? [{ seat, name: person.name }] : [];
  });
  const all = [...seated, ...match.said].filter(({ seat, name }) =>
    seat === null ? name !== own : seat !== match.you,
  );
  const known = new Map(all.map((line) => [speakerOf(match, line), line.name]));
  return [...known].map(([id, name]) => ({ id, name }));
}

function mute(speaker: string, on: boolean) {
  const others = muted().filter((known) => known !== speaker);
  const all = on ? [...others, speaker] : others;
  remember('muted', JSON.stringify(all.slice(-MUTED)));
}
