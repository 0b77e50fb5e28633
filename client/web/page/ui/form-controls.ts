// What one chooses with: options side by side, and lists that fold out.

import { h } from './dom.ts';

export const fieldset = (legend: string, kind: string, options: HTMLElement[]) =>
  h('fieldset', {}, h('legend', {}, legend), h('div', { class: kind }, ...options));

export const radio = (
  name: string,
  value: string,
  checked: boolean,
  choose: () => void,
  ...label: (Node | string)[]
) =>
  h(
    'label',
    { class: 'option' },
    h('input', { type: 'radio', name, value, checked, onchange: choose }),
    ...label,
  );

export function select(
  label: string,
  options: { value: string; title: string }[],
  chosen: string | undefined,
  choose: (value: string) => void,
) {
  const list = h(
    'select',
    { onchange: () => choose(list.value) },
    ...options.map(({ value, title }) => h('option', { value, selected: value === chosen }, title)),
  );
  return h('label', { class: 'field' }, h('span', {}, label), list);
}

export function checkbox(label: string, checked: boolean, choose: (checked: boolean) => void) {
  const box = h('input', { type: 'checkbox', checked, onchange: () => choose(box.checked) });
  return h('label', { class: 'check' }, box, h('span', {}, label));
}
