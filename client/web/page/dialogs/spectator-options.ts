// Who may watch a match, and how much later they see it.

import { select } from '../ui/controls.ts';
import { fill, h } from '../ui/dom.ts';
import { say } from '../text/language.ts';
import { spanWords } from '../text/time.ts';

import type { WatchedBy } from '../net/protocol.ts';
import type { Choice } from '../lobby/lobby-prefs.ts';

const MINUTE_MS = 60_000;
/** The server's bound is ten minutes. */
const DELAYS_MS = [0, MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];

/** Draws what is to be chosen, by these terms. */
export function drawWatching(
  place: HTMLElement,
  choice: Partial<Choice>,
  choose: (change: Partial<Choice>) => void,
  { isRated, isOfDays }: { isRated: boolean; isOfDays: boolean },
) {
  const drawn = JSON.stringify([isRated, isOfDays, choice.watch === 'nobody']);
  if (place.dataset.drawn === drawn) return;
  place.dataset.drawn = drawn;
  const hadFocus = place.contains(document.activeElement);
  const watch = select(
    say('watch.who'),
    [
      { value: '', title: say('watch.usual') },
      { value: 'anyone', title: say('watch.anyone') },
      { value: 'code', title: say('watch.code') },
      { value: 'nobody', title: say('watch.nobody') },
    ],
    choice.watch,
    (watch) => choose({ watch: watch as WatchedBy | '' }),
  );
  const delay = select(
    say('watch.delay'),
    DELAYS_MS.map((ms) => ({
      value: String(ms),
      title: ms === 0 ? say('watch.now') : say('watch.later', { time: spanWords(ms, 'long') }),
    })),
    String(choice.delay ?? 0),
    (ms) => choose({ delay: Number(ms) }),
  );
  // What counts for ratings is for all to see, and by days nobody sees it later.
  const isSeen = isRated || choice.watch !== 'nobody';
  fill(
    place,
    h('div', { class: 'row fields' }, !isRated && watch, isSeen && !isOfDays && delay),
    h('p', { class: 'note' }, say(isRated ? 'watch.rated' : 'watch.about')),
  );
  if (hadFocus) place.querySelector('select')?.focus();
}
