// Whether one is told outside of the page that it is one's turn: asked for where one plays by days, and nowhere
// else.

import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import {
  canNotify,
  isForbidden,
  notifies,
  startNotifying,
  stopNotifying,
} from './notification-settings.ts';

import type { App } from '../app/main.ts';

export class Notify {
  element = h('section', { class: 'card notify', 'aria-label': say('notify.label'), hidden: true });
  #app;
  #drawn = '';

  constructor(app: App) {
    this.#app = app;
  }

  update() {
    const isWanted = canNotify() && this.#app.days.rows.length > 0;
    const state = !isWanted ? '' : isForbidden() ? 'forbidden' : notifies() ? 'on' : 'off';
    if (state === this.#drawn) return;
    this.#drawn = state;
    this.element.hidden = state === '';
    const hadFocus = this.element.contains(document.activeElement);
    fill(this.element, ...this.#parts(state));
    if (hadFocus) this.element.querySelector('button')?.focus();
  }

  #parts(state: string) {
    if (state === '') return [];
    if (state === 'forbidden') return [h('p', { class: 'note' }, say('notify.forbidden'))];
    const isOn = state === 'on';
    const change = async () => {
      if (isOn) stopNotifying();
      else await startNotifying();
      this.update();
    };
    return [
      h('p', { class: 'note', role: 'status' }, say(isOn ? 'notify.on' : 'notify.about')),
      h(
        'button',
        { type: 'button', onclick: () => void change() },
        say(isOn ? 'notify.stop' : 'notify.start'),
      ),
    ];
  }
}
