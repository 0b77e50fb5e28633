// Two bots that one watches.

import { checkbox, select } from '../ui/controls.ts';
import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';

import type { SeatWish } from '../net/protocol.ts';
import type { Choice } from '../lobby/lobby-prefs.ts';
import type { App } from '../app/main.ts';

const CALM_MS = 1000;
const PACES = [
  { ms: 300, title: say('bots.fast') },
  { ms: CALM_MS, title: say('bots.calm') },
  { ms: 3000, title: say('bots.slow') },
];

export function drawExhibition(
  place: HTMLElement,
  app: App,
  choice: Partial<Choice>,
  choose: (change: Partial<Choice>) => void,
) {
  if (!PACES.some(({ ms }) => ms === choice.pace)) choice.pace = CALM_MS;
  const bot = (which: 'one' | 'other', label: string) =>
    select(
      label,
      app.levels.map(({ level, title }) => ({ value: level, title })),
      choice[which],
      (level) => choose({ [which]: level }),
    );
  const watch = () => {
    const { game = '', one = '', other = '', pace = CALM_MS, thoughts = true } = choice;
    const seats: [SeatWish, SeatWish] = [{ bot: one }, { bot: other }];
    void app.enter({ type: 'create', game, seats, pace_ms: pace, thinking: thoughts });
  };
  fill(
    place,
    bot('one', say('bots.first')),
    bot('other', say('bots.second')),
    select(
      say('bots.pace'),
      PACES.map(({ ms, title }) => ({ value: String(ms), title })),
      String(choice.pace),
      (ms) => choose({ pace: Number(ms) }),
    ),
    checkbox(say('bots.thinking'), choice.thoughts !== false, (thoughts) => choose({ thoughts })),
    h('button', { type: 'button', onclick: watch }, say('bots.watch')),
  );
}
