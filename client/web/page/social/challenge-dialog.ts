// How one challenges somebody of whom one reads: to which game, and by which clock.

import { challenge } from './challenge.ts';
import { recallChoice } from '../lobby/lobby-prefs.ts';
import { select } from '../ui/controls.ts';
import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { clockWords } from '../text/time.ts';

import type { Clock, Person } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export function challengeDialog(app: App, person: Person & { account?: boolean }) {
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
    const clock: Clock | undefined =
      chosen.clock === '' ? undefined : clocks[Number(chosen.clock)]?.clock;
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
        onsubmit: (event: Event) => {
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
