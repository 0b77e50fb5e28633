// Button that opens the appearance dialog.

import { h } from './dom.ts';
import { translate } from '../text/language.ts';
import { icon } from '../app/header-toggles.ts';
import { tryLoadLazyBundle } from '../app/load-lazy-bundle.ts';

import type { App } from '../app/main.ts';

/** Path of the icon: four squares. */
const SQUARES = 'M4 4h16v16H4zM12 4v16M4 12h16M5 5h6v6H5zM13 13h6v6h-6z';

export function appearanceButton(app: App) {
  const label = translate('looks.title');
  const onclick = async () => {
    const lazy = await tryLoadLazyBundle(app);
    lazy?.showAppearanceDialog(app);
  };
  return h(
    'button',
    { class: 'quiet round', type: 'button', 'aria-label': label, title: label, onclick },
    icon(SQUARES),
  );
}
