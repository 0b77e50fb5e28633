// Asks whether a match is to be given up. It stays open while the match goes on.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { botName } from '../text/labels.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export class ResignDialog {
  element = h('div', {
    class: 'row asking',
    hidden: true,
    onkeydown: ({ key }: KeyboardEvent) => key === 'Escape' && this.#stay(),
  });
  #app;
  #match: Match | null = null;
  /** Where the focus comes from. */
  #from: Element | null = null;
  #callOff = button(translate('resign.callOff'), '', () => this.#ask('abort'));
  #resign = button(translate('resign.resign'), 'danger', () => this.#ask('resign'));
  #handOver = button('', '', () => void this.#leaveToBot());
  #playOn = button(translate('resign.stay'), '', () => this.#stay());

  constructor(app: App) {
    this.#app = app;
    const question = h('p', { class: 'question' }, translate('resign.question'));
    replaceChildren(
      this.element,
      question,
      this.#callOff,
      this.#handOver,
      this.#resign,
      this.#playOn,
    );
  }

  open() {
    this.#from = document.activeElement;
    this.element.hidden = false;
    this.#playOn.focus();
  }

  show(match: Match) {
    this.#match = match;
    // Nobody has lost anything yet.
    this.#callOff.hidden = match.ply >= 2 || match.takebacks > 0;
    this.#handOver.hidden = !match.stand_in;
    const bot = botName(match.stand_in ?? '', this.#app.levels);
    setText(this.#handOver, translate('resign.bot', { bot }));
    const connected = this.#app.connection.status.state === 'open';
    for (const ask of [this.#callOff, this.#handOver, this.#resign]) ask.disabled = !connected;
    if (match.status !== 'running' || match.you === null) this.element.hidden = true;
  }

  #ask(type: 'abort' | 'resign') {
    if (this.#match) void this.#app.request({ type, match: this.#match.match });
  }

  /** Leaves the seat to a bot, and looks on. */
  async #leaveToBot() {
    const { match } = this.#match ?? {};
    if (match === undefined || !(await this.#app.request({ type: 'leave', match }))) return;
    await this.#app.request({ type: 'watch', match });
  }

  #stay() {
    this.element.hidden = true;
    if (this.#from instanceof HTMLElement) this.#from.focus();
  }
}

const button = (text: string, look: string, onclick: () => void) =>
  h('button', { type: 'button', class: look, onclick }, text);
