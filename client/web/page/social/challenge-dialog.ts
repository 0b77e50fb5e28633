// Dialog to challenge a player: selects the game, the clock and whether the match is rated.

import { sendChallenge } from './send-challenge.ts';
import { loadLobbyPrefs } from '../lobby/lobby-prefs.ts';
import { select } from '../ui/form-controls.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { formatClock } from '../text/time.ts';

import type { NamedPlayer } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

export function showChallengeDialog(app: App, opponent: NamedPlayer & { account?: boolean }) {
  const clocks = app.connection.welcome?.clocks ?? [];
  const selected = { game: loadLobbyPrefs().game ?? app.games[0]?.game ?? '', clock: '0' };
  const rated = h('input', { type: 'checkbox' });
  const haveAccounts = Boolean(opponent.account && app.player?.account);
  const ratedField = h(
    'label',
    { class: 'check', hidden: true },
    rated,
    h('span', {}, translate('rated.label')),
  );
  const updateRatedField = () => (ratedField.hidden = !haveAccounts || selected.clock === '');
  const dialog = h('dialog', { 'aria-labelledby': 'challenge-title' });
  const submit = (event: Event) => {
    event.preventDefault();
    const clock = selected.clock === '' ? undefined : clocks[Number(selected.clock)]?.clock;
    dialog.close();
    sendChallenge(app, opponent, {
      type: 'create',
      game: selected.game,
      seats: ['me', 'open'],
      shuffle: true,
      ...(clock ? { clock } : {}),
      ...(!ratedField.hidden && rated.checked ? { rated: true, takeback: false } : {}),
    });
  };
  replaceChildren(
    dialog,
    h(
      'form',
      { method: 'dialog', onsubmit: submit },
      h('h2', { id: 'challenge-title' }, translate('lobby.challenge', { name: opponent.name })),
      select(
        translate('lobby.game'),
        app.games.map(({ game, title }) => ({ value: game, title })),
        selected.game,
        (game) => (selected.game = game),
      ),
      select(
        translate('terms.clock'),
        [
          ...clocks.map(({ clock }, at) => ({ value: String(at), title: formatClock(clock) })),
          { value: '', title: translate('terms.none') },
        ],
        selected.clock,
        (clock) => {
          selected.clock = clock;
          updateRatedField();
        },
      ),
      ratedField,
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
  updateRatedField();
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
