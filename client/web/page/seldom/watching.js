// Who may watch a match, and how much later they see it.

import { select } from '../controls.js';
import { fill, h } from '../dom.js';
import { say } from '../language.js';
import { spanWords } from '../time.js';

/** @import { WatchedBy } from '../../protocol.js' */
/** @import { Choice } from '../choice.js' */

const MINUTE_MS = 60_000;
/** The server's bound is ten minutes. */
const DELAYS_MS = [0, MINUTE_MS, 3 * MINUTE_MS, 10 * MINUTE_MS];

/**
 * Draws what is to be chosen, by these terms.
 * @param {HTMLElement} place
 * @param {Partial<Choice>} choice
 * @param {(change: Partial<Choice>) => void} choose
 * @param {{ isRated: boolean, isOfDays: boolean }} terms
 */
export function drawWatching(place, choice, choose, { isRated, isOfDays }) {
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
    (watch) => choose({ watch: /** @type {WatchedBy | ''} */ (watch) }),
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
