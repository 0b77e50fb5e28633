// Who may watch a match, and how much later they see it.

import { select } from '../ui/form-controls.ts';
import { replaceChildren, h } from '../ui/dom.ts';
import { translate } from '../text/language.ts';
import { formatDuration } from '../text/time.ts';

import type { SpectatorAccess } from '../net/protocol.ts';
import type { LobbyPrefs } from '../lobby/lobby-prefs.ts';

const MINUTE_MS = 60_000;
/** The server's bound is ten minutes. */
const DELAYS_MS = [0, MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];

/** Draws what is to be chosen, by these terms. */
export function renderSpectatorOptions(
  place: HTMLElement,
  choice: Partial<LobbyPrefs>,
  choose: (change: Partial<LobbyPrefs>) => void,
  { isRated, isCorrespondence: isOfDays }: { isRated: boolean; isCorrespondence: boolean },
) {
  const drawn = JSON.stringify([isRated, isOfDays, choice.watch === 'nobody']);
  if (place.dataset.drawn === drawn) return;
  place.dataset.drawn = drawn;
  const hadFocus = place.contains(document.activeElement);
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
  // What counts for ratings is for all to see, and by days nobody sees it later.
  const isSeen = isRated || choice.watch !== 'nobody';
  replaceChildren(
    place,
    h('div', { class: 'row fields' }, !isRated && watch, isSeen && !isOfDays && delay),
    h('p', { class: 'note' }, translate(isRated ? 'watch.rated' : 'watch.about')),
  );
  if (hadFocus) place.querySelector('select')?.focus();
}
