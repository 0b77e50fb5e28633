// A button that stays where it is, and tells why it does nothing when it does nothing.

import { h, setText } from '../ui/dom.ts';
import { icon } from '../app/header-toggles.ts';

import type { App } from '../app/main.ts';

/** What a button may do now. */
export interface BarButtonState {
  /** whether there is never anything to do here in this match */
  isHidden?: boolean;
  /** why it cannot be done now */
  why?: string;
  /** in short, for how long it cannot */
  wait?: string;
}

export class BarButton {
  element;
  #name;
  #label;
  #why = '';
  #text = h('span', { 'aria-hidden': true });

  /**
   * @param name what it does
   * @param label what stands on it
   */
  constructor(app: App, name: string, label: string, drawn: string, does: () => void) {
    this.#name = name;
    this.#label = label;
    const onclick = () => (this.#why ? app.toast(this.#why) : does());
    this.element = h('button', { type: 'button', onclick }, icon(drawn), this.#text);
    this.setLabel(name, label);
  }

  /**
   * @param name what it does
   * @param label what stands on it
   */
  setLabel(name: string, label: string) {
    this.#name = name;
    this.#label = label;
    this.element.setAttribute('aria-label', name);
  }

  show({ isHidden: never = false, why = '', wait = '' }: BarButtonState) {
    this.#why = why;
    setText(this.#text, wait || this.#label);
    this.element.hidden = never;
    this.element.setAttribute('aria-disabled', String(why !== ''));
    this.element.title = why || this.#name;
  }
}
