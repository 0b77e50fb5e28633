// What one chooses with: options side by side, and lists that fold out.

import { h } from './dom.js';

/** @param {string} legend @param {string} kind @param {HTMLElement[]} options */
export const group = (legend, kind, options) =>
  h('fieldset', {}, h('legend', {}, legend), h('div', { class: kind }, ...options));

/**
 * @param {string} name
 * @param {string} value
 * @param {boolean} checked
 * @param {() => void} choose
 * @param {...(Node | string)} label
 */
export const radio = (name, value, checked, choose, ...label) =>
  h(
    'label',
    { class: 'option' },
    h('input', { type: 'radio', name, value, checked, onchange: choose }),
    ...label,
  );

/**
 * @param {string} label
 * @param {{ value: string, title: string }[]} options
 * @param {string | undefined} chosen
 * @param {(value: string) => void} choose
 */
export function select(label, options, chosen, choose) {
  const list = h(
    'select',
    { onchange: () => choose(list.value) },
    ...options.map(({ value, title }) => h('option', { value, selected: value === chosen }, title)),
  );
  return h('label', { class: 'field' }, h('span', {}, label), list);
}

/**
 * @param {string} label
 * @param {boolean} checked
 * @param {(checked: boolean) => void} choose
 */
export function checkbox(label, checked, choose) {
  const box = h('input', { type: 'checkbox', checked, onchange: () => choose(box.checked) });
  return h('label', { class: 'check' }, box, h('span', {}, label));
}
