// The way to how boards and pieces are drawn.

import { h } from './dom.js';
import { say } from './language.js';
import { icon } from './switches.js';
import { come } from './wanted.js';

/** @import { App } from './main.js' */

/** Four squares. */
const SQUARES = 'M4 4h16v16H4zM12 4v16M4 12h16M5 5h6v6H5zM13 13h6v6h-6z';

/** @param {App} app */
export function looksButton(app) {
  const label = say('looks.title');
  const onclick = async () => {
    const seldom = await come(app);
    seldom?.chooseLooks(app);
  };
  return h(
    'button',
    { class: 'quiet round', type: 'button', 'aria-label': label, title: label, onclick },
    icon(SQUARES),
  );
}
