// How one challenges somebody of whom one reads: to which game, and by which clock.

import { challenge } from '../challenging.js';
import { recallChoice } from '../choice.js';
import { select } from '../controls.js';
import { fill, h } from '../dom.js';
import { say } from '../language.js';
import { clockWords } from '../time.js';

/** @import { Clock, Person } from '../../protocol.js' */
/** @import { App } from '../main.js' */

/** @param {App} app @param {Person & { account?: boolean }} person */
export function challengeDialog(app, person) {
  const clocks = app.connection.welcome?.clocks ?? [];
  const chosen = { game: recallChoice().game ?? app.games[0]?.game ?? '', clock: '0' };
  const rated = h('input', { type: 'checkbox' });
  const isBoth = Boolean(person.account && app.player?.account);
  const field = h(
    'label',
    { class: 'check', hidden: true },
    rated,
    h('span', {}, say('rated.label')),
  );
  const show = () => (field.hidden = !isBoth || chosen.clock === '');
  const dialog = h('dialog', { 'aria-labelledby': 'challenge-title' });
  const ask = () => {
    /** @type {Clock | undefined} */
    const clock = chosen.clock === '' ? undefined : clocks[Number(chosen.clock)]?.clock;
    dialog.close();
    challenge(app, person, {
      ...{ type: 'create', game: chosen.game, seats: ['me', 'open'], shuffle: true },
      ...(clock ? { clock } : {}),
      ...(!field.hidden && rated.checked ? { rated: true, takeback: false } : {}),
    });
  };
  fill(
    dialog,
    h(
      'form',
      {
        method: 'dialog',
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          ask();
        },
      },
      h('h2', { id: 'challenge-title' }, say('lobby.challenge', { name: person.name })),
      select(
        say('lobby.game'),
        app.games.map(({ game, title }) => ({ value: game, title })),
        chosen.game,
        (game) => (chosen.game = game),
      ),
      select(
        say('terms.clock'),
        [
          ...clocks.map(({ clock }, at) => ({ value: String(at), title: clockWords(clock) })),
          { value: '', title: say('terms.none') },
        ],
        chosen.clock,
        (clock) => {
          chosen.clock = clock;
          show();
        },
      ),
      field,
      h(
        'div',
        { class: 'row end' },
        h(
          'button',
          { type: 'button', class: 'quiet', onclick: () => dialog.close() },
          say('dialog.cancel'),
        ),
        h('button', { class: 'primary' }, say('profile.challenge')),
      ),
    ),
  );
  show();
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
