// A button of the action bar; while it is disabled, a click shows the reason as a toast.

import { h, setText } from '../ui/dom.ts';
import { icon } from '../app/header-toggles.ts';

import type { App } from '../app/main.ts';

export interface BarButtonState {
  isHidden?: boolean;
  /** the reason why the button is disabled; '' or absent if it is enabled */
  why?: string;
  /** remaining cooldown, shown in place of the label */
  wait?: string;
}

export class BarButton {
  element;
  #name;
  #label;
  #why = '';
  #text = h('span', { 'aria-hidden': true });

  /**
   * @param name accessible name
   * @param label visible text
   * @param iconPath path data of the icon
   */
  constructor(app: App, name: string, label: string, iconPath: string, onClick: () => void) {
    this.#name = name;
    this.#label = label;
    const onclick = () => (this.#why ? app.toast(this.#why) : onClick());
    this.element = h('button', { type: 'button', onclick }, icon(iconPath), this.#text);
    this.setLabel(name, label);
  }

  setLabel(name: string, label: string) {
    this.#name = name;
    this.#label = label;
    this.element.setAttribute('aria-label', name);
  }

  show({ isHidden = false, why = '', wait = '' }: BarButtonState) {
    this.#why = why;
    setText(this.#text, wait || this.#label);
    this.element.hidden = isHidden;
    this.element.setAttribute('aria-disabled', String(why !== ''));
    this.element.title = why || this.#name;
  }
}
