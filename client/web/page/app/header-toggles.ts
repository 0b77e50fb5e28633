// The controls in the header for language, theme and sounds.

import { replaceChildren, h, svg } from '../ui/dom.ts';
import { setStored } from '../ui/storage.ts';
import { LANGUAGE, LANGUAGES, translate } from '../text/language.ts';
import { isSoundEnabled, setSoundEnabled } from '../ui/sounds.ts';

/** The order in which the button switches themes, with the path of each icon. */
const THEMES = [
  {
    theme: 'system',
    says: translate('theme.system'),
    drawn: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  },
  {
    theme: 'light',
    says: translate('theme.light'),
    drawn:
      'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19',
  },
  {
    theme: 'dark',
    says: translate('theme.dark'),
    drawn: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  },
];

const SPEAKER = 'M4 9.5v5h3.5L12 18.5v-13L7.5 9.5z';
const WAVES = 'M15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11';
const CROSS = 'M16 9.5l5 5M21 9.5l-5 5';

const GLOBE = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18';

export const icon = (drawn: string) =>
  svg(
    'svg',
    { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    svg('path', { d: drawn }),
  );

export function themeSwitch() {
  const root = document.documentElement;
  const button = h('button', {
    class: 'quiet round',
    type: 'button',
    onclick: () => {
      const at = THEMES.findIndex(({ theme }) => theme === root.dataset.theme);
      const next = THEMES[(at + 1) % THEMES.length]?.theme ?? 'system';
      root.dataset.theme = next;
      setStored('theme', next === 'system' ? null : next);
      show();
    },
  });
  const show = () => {
    const now = THEMES.find(({ theme }) => theme === root.dataset.theme) ?? THEMES[0];
    const label = translate('theme.now', { theme: now?.says ?? '' });
    button.setAttribute('aria-label', label);
    button.title = label;
    replaceChildren(button, icon(now?.drawn ?? ''));
  };
  show();
  return button;
}

export function soundSwitch() {
  const button = h('button', {
    class: 'quiet round',
    type: 'button',
    onclick: () => {
      setSoundEnabled(!isSoundEnabled());
      show();
    },
  });
  const show = () => {
    const on = isSoundEnabled();
    button.setAttribute('aria-label', translate('sounds.name'));
    button.setAttribute('aria-pressed', String(on));
    button.title = translate(on ? 'sounds.on' : 'sounds.off');
    replaceChildren(button, icon(SPEAKER + (on ? WAVES : CROSS)));
  };
  show();
  return button;
}

/** Selecting a language reloads the page. */
export function languageSwitch() {
  const label = translate('page.language');
  const options = Object.entries(LANGUAGES).map(([code, name]) =>
    h('option', { value: code, lang: code, selected: code === LANGUAGE }, name),
  );
  const choose = () => {
    setStored('language', list.value);
    location.reload();
  };
  const list = h('select', { 'aria-label': label, title: label, onchange: choose }, ...options);
  return h('span', { class: 'language' }, icon(GLOBE), list);
}
