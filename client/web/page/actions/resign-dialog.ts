// Asks whether a match is to be given up. It stays open while the match goes on.

import { fill, h, write } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { botWord } from '../text/labels.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export class GiveUp {
  element = h('div', {
    class: 'row asking',
    hidden: true,
    onkeydown: ({ key }: KeyboardEvent) => key === 'Escape' && this.#stay(),
  });
  #app;
  #match: Match | null = null;
  /** Where the focus comes from. */
  #from: Element | null = null;
  #callOff = button(say('resign.callOff'), '', () => this.#ask('abort'));
  #resign = button(say('resign.resign'), 'danger', () => this.#ask('resign'));
  #handOver = button('', '', () => void this.#leaveToBot());
  #playOn = button(say('resign.stay'), '', () => this.#stay());

  constructor(app: App) {
    this.#app = app;
    const question = h('p', { class: 'question' }, say('resign.question'));
    fill(this.element, question, this.#callOff, this.#handOver, this.#resign, this.#playOn);
  }

  ask() {
    this.#from = document.activeElement;
    this.element.hidden = false;
    this.#playOn.focus();
  }

  show(match: Match) {
    this.#match = match;
    // Nobody has lost anything yet.
    this.#callOff.hidden = match.ply >= 2 || match.takebacks > 0;
    this.#handOver.hidden = !match.stand_in;
    const bot = botWord(match.stand_in ?? '', this.#app.levels);
    write(this.#handOver, say('resign.bot', { bot }));
    const connected = this.#app.connection.link.state === 'open';
    for (const ask of [this.#callOff, this.#handOver, this.#resign]) ask.disabled = !connected;
    if (match.status !== 'running' || match.you === null) this.element.hidden = true;
  }

  #ask(type: 'abort' | 'resign') {
    if (this.#match) void this.#app.ask({ type, match: this.#match.match });
  }

  /** Leaves the seat to a bot, and looks on. */
  async #leaveToBot() {
    const { match } = this.#match ?? {};
    if (match === undefined || !(await this.#app.ask({ type: 'leave', match }))) return;
    await this.#app.ask({ type: 'watch', match });
  }

  #stay() {
    this.element.hidden = true;
    if (this.#from instanceof HTMLElement) this.#from.focus();
  }
}

const button = (text: string, look: string, onclick: () => void) =>
  h('button', { type: 'button', class: look, onclick }, text);
