// Form controls: radio buttons, select lists and checkboxes.

import { h } from './dom.ts';

export const fieldset = (legend: string, className: string, options: HTMLElement[]) =>
  h('fieldset', {}, h('legend', {}, legend), h('div', { class: className }, ...options));

export const radio = (
  name: string,
  value: string,
  checked: boolean,
  onChoose: () => void,
  ...label: (Node | string)[]
) =>
  h(
    'label',
    { class: 'option' },
    h('input', { type: 'radio', name, value, checked, onchange: onChoose }),
    ...label,
  );

export function select(
  label: string,
  options: { value: string; title: string }[],
  chosen: string | undefined,
  onChoose: (value: string) => void,
) {
  const list = h(
    'select',
    { onchange: () => onChoose(list.value) },
    ...options.map(({ value, title }) => h('option', { value, selected: value === chosen }, title)),
  );
  return h('label', { class: 'field' }, h('span', {}, label), list);
}

export function checkbox(label: string, checked: boolean, onChoose: (checked: boolean) => void) {
  const box = h('input', { type: 'checkbox', checked, onchange: () => onChoose(box.checked) });
  return h('label', { class: 'check' }, box, h('span', {}, label));
}
