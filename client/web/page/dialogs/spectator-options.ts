// Form for the access of spectators and their delay.

import { select } from '../ui/form-controls.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { formatDuration } from '../text/time.ts';

import type { SpectatorAccess } from '../net/protocol.ts';
import type { LobbyPrefs } from '../lobby/lobby-prefs.ts';

const MINUTE_MS = 60_000;
/** The server allows at most ten minutes. */
const DELAYS_MS = [0, MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];

export function renderSpectatorOptions(
  container: HTMLElement,
  choice: Partial<LobbyPrefs>,
  choose: (change: Partial<LobbyPrefs>) => void,
  { isRated, isCorrespondence }: { isRated: boolean; isCorrespondence: boolean },
) {
  const key = JSON.stringify([isRated, isCorrespondence, choice.watch === 'nobody']);
  if (container.dataset.drawn === key) return;
  container.dataset.drawn = key;
  const hadFocus = container.contains(document.activeElement);
  const watch = select(
    translate('watch.who'),
    [
      { value: '', title: translate('watch.usual') },
      { value: 'anyone', title: translate('watch.anyone') },
      { value: 'code', title: translate('watch.code') },
      { value: 'nobody', title: translate('watch.nobody') },
    ],
    choice.watch,
    (watch) => choose({ watch: watch as SpectatorAccess | '' }),
  );
  const delay = select(
    translate('watch.delay'),
    DELAYS_MS.map((ms) => ({
      value: String(ms),
      title:
        ms === 0
          ? translate('watch.now')
          : translate('watch.later', { time: formatDuration(ms, 'long') }),
    })),
    String(choice.delay ?? 0),
    (ms) => choose({ delay: Number(ms) }),
  );
  // Rated matches are public, and correspondence matches have no delay.
  const isWatchable = isRated || choice.watch !== 'nobody';
  replaceChildren(
    container,
    h('div', { class: 'row fields' }, !isRated && watch, isWatchable && !isCorrespondence && delay),
    h('p', { class: 'note' }, translate(isRated ? 'watch.rated' : 'watch.about')),
  );
  if (hadFocus) container.querySelector('select')?.focus();
}
