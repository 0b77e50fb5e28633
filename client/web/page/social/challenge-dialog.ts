// How one challenges somebody of whom one reads: to which game, and by which clock.

import { sendChallenge } from './send-challenge.ts';
import { loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { select } from '../ui/form-controls.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { formatClock } from '../text/time.ts';

import type { Clock, NamedPlayer } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export function showChallengeDialog(app: App, person: NamedPlayer & { account?: boolean }) {
  const clocks = app.connection.welcome?.clocks ?? [];
  const chosen = { game: loadLobbyPrefs().game ?? app.games[0]?.game ?? '', clock: '0' };
  const rated = h('input', { type: 'checkbox' });
  const isBoth = Boolean(person.account && app.player?.account);
  const field = h(
    'label',
    { class: 'check', hidden: true },
    rated,
    h('span', {}, translate('rated.label')),
  );
  const show = () => (field.hidden = !isBoth || chosen.clock === '');
  const dialog = h('dialog', { 'aria-labelledby': 'challenge-title' });
  const ask = () => {
    const clock: Clock | undefined =
      chosen.clock === '' ? undefined : clocks[Number(chosen.clock)]?.clock;
    dialog.close();
    sendChallenge(app, person, {
      ...{ type: 'create', game: chosen.game, seats: ['me', 'open'], shuffle: true },
      ...(clock ? { clock } : {}),
      ...(!field.hidden && rated.checked ? { rated: true, takeback: false } : {}),
    });
  };
  replaceChildren(
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
      h('h2', { id: 'challenge-title' }, translate('lobby.challenge', { name: person.name })),
      select(
        translate('lobby.game'),
        app.games.map(({ game, title }) => ({ value: game, title })),
        chosen.game,
        (game) => (chosen.game = game),
      ),
      select(
        translate('terms.clock'),
        [
          ...clocks.map(({ clock }, at) => ({ value: String(at), title: formatClock(clock) })),
          { value: '', title: translate('terms.none') },
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
          translate('dialog.cancel'),
        ),
        h('button', { class: 'primary' }, translate('profile.challenge')),
      ),
    ),
  );
  show();
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
