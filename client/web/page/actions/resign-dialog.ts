// Asks the player to confirm a resignation, or to abort the match or leave the seat to a bot
// instead.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { botName } from '../text/labels.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

export class ResignDialog {
  element = h('div', {
    class: 'row asking',
    hidden: true,
    onkeydown: ({ key }: KeyboardEvent) => key === 'Escape' && this.#close(),
  });
  #app;
  #match: Match | null = null;
  /** Gets the focus back when the dialog closes. */
  #returnFocus: Element | null = null;
  #abort = button(translate('resign.callOff'), '', () => this.#request('abort'));
  #resign = button(translate('resign.resign'), 'danger', () => this.#request('resign'));
  #leave = button('', '', () => void this.#leaveToBot());
  #cancel = button(translate('resign.stay'), '', () => this.#close());

  constructor(app: App) {
    this.#app = app;
    const question = h('p', { class: 'question' }, translate('resign.question'));
    replaceChildren(this.element, question, this.#abort, this.#leave, this.#resign, this.#cancel);
  }

  open() {
    this.#returnFocus = document.activeElement;
    this.element.hidden = false;
    this.#cancel.focus();
  }

  show(match: Match) {
    this.#match = match;
    // A match can only be aborted before its second ply and without takebacks.
    this.#abort.hidden = match.ply >= 2 || match.takebacks > 0;
    this.#leave.hidden = !match.stand_in;
    const bot = botName(match.stand_in ?? '', this.#app.levels);
    setText(this.#leave, translate('resign.bot', { bot }));
    const connected = this.#app.connection.status.state === 'open';
    for (const action of [this.#abort, this.#leave, this.#resign]) action.disabled = !connected;
    if (match.status !== 'running' || match.you === null) this.element.hidden = true;
  }

  #request(type: 'abort' | 'resign') {
    if (this.#match) void this.#app.request({ type, match: this.#match.match });
  }

  /** Leaves the seat to the stand-in bot and keeps watching the match. */
  async #leaveToBot() {
    const { match } = this.#match ?? {};
    if (match === undefined || !(await this.#app.request({ type: 'leave', match }))) return;
    await this.#app.request({ type: 'watch', match });
  }

  #close() {
    this.element.hidden = true;
    if (this.#returnFocus instanceof HTMLElement) this.#returnFocus.focus();
  }
}

const button = (text: string, className: string, onclick: () => void) =>
  h('button', { type: 'button', class: className, onclick }, text);
