// Form that starts a match between two bots.

import { checkbox, select } from '../ui/form-controls.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { SeatRequest } from '../net/protocol.ts';
import type { LobbyPrefs } from '../lobby/lobby-prefs.ts';
import type { App } from '../app/main.ts';

const DEFAULT_PACE_MS = 1000;
const PACES = [
  { ms: 300, title: translate('bots.fast') },
  { ms: DEFAULT_PACE_MS, title: translate('bots.calm') },
  { ms: 3000, title: translate('bots.slow') },
];

export function renderBotVsBotOptions(
  container: HTMLElement,
  app: App,
  choice: Partial<LobbyPrefs>,
  choose: (change: Partial<LobbyPrefs>) => void,
) {
  if (!PACES.some(({ ms }) => ms === choice.pace)) choice.pace = DEFAULT_PACE_MS;
  const levelSelect = (key: 'one' | 'other', label: string) =>
    select(
      label,
      app.levels.map(({ level, title }) => ({ value: level, title })),
      choice[key],
      (level) => choose({ [key]: level }),
    );
  const watch = () => {
    const { game = '', one = '', other = '', pace = DEFAULT_PACE_MS, thoughts = true } = choice;
    const seats: [SeatRequest, SeatRequest] = [{ bot: one }, { bot: other }];
    void app.enterMatch({ type: 'create', game, seats, pace_ms: pace, thinking: thoughts });
  };
  replaceChildren(
    container,
    levelSelect('one', translate('bots.first')),
    levelSelect('other', translate('bots.second')),
    select(
      translate('bots.pace'),
      PACES.map(({ ms, title }) => ({ value: String(ms), title })),
      String(choice.pace),
      (ms) => choose({ pace: Number(ms) }),
    ),
    checkbox(translate('bots.thinking'), choice.thoughts !== false, (thoughts) =>
      choose({ thoughts }),
    ),
    h('button', { type: 'button', onclick: watch }, translate('bots.watch')),
  );
}
