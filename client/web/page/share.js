// How a match finds its second player: a link and a code to share, or a bot after all.

import { challengedTo } from './challenging.js';
import { h, write } from './dom.js';
import { isOfDays } from './own-clock.js';
import { spanWords } from './time.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

const TOLD_MS = 2000;

const UNLISTED = 'This match is in no list: whoever opens the link first plays, later ones watch.';
const LISTED = 'This match is in the list of open matches, too: anybody may join.';

/**
 * @param {App} app
 * @param {Match} match an open one
 * @param {string | undefined} level the bot that is offered first
 */
export function shareCard(app, match, level) {
  const isHost = match.host === app.player?.id;
  // Bots do not play by days.
  const bot = isOfDays(match.clock) ? null : botInstead(app, match, level);
  const challenged = isHost && challengedTo(match);
  if (challenged) {
    return h(
      'section',
      { class: 'card share', 'aria-label': 'Challenge' },
      h(
        'p',
        {},
        'Only ',
        h('bdi', {}, challenged),
        ' can take this seat, and is told of it as soon as they are here.',
      ),
      h('p', { class: 'note' }, waits(app, match)),
      instead(app, match, bot),
    );
  }
  const link = `${location.origin}/m/${match.code}`;
  const field = h('input', {
    id: 'link',
    readonly: true,
    value: link,
    onfocus: () => field.select(),
  });
  const copy = h('button', { type: 'button', class: 'primary' }, 'Copy the link');
  copy.addEventListener('click', async () => {
    write(copy, (await copied(link, field)) ? 'Copied' : 'Press Ctrl+C');
    setTimeout(() => write(copy, 'Copy the link'), TOLD_MS);
  });
  return h(
    'section',
    { class: 'card share', 'aria-labelledby': 'share-title' },
    h('h2', { id: 'share-title' }, 'Send this to a friend'),
    h('label', { for: 'link', class: 'unseen' }, 'Link to this match'),
    h('div', { class: 'row' }, field, copy),
    h('p', {}, 'or tell them the code ', h('strong', { class: 'code' }, match.code)),
    h('p', { class: 'note' }, match.listed ? LISTED : UNLISTED),
    isHost && h('p', { class: 'note' }, waits(app, match)),
    isHost && instead(app, match, bot),
  );
}

/**
 * How long it waits for somebody while its host is elsewhere.
 * @param {App} app
 * @param {Match} match
 */
function waits({ connection }, { clock }) {
  if (isOfDays(clock)) return 'It waits for 14 days; you need not stay.';
  const most = connection.welcome?.limits.abandon_after_ms ?? 0;
  return `If you close this page, it waits for you for ${spanWords(most)}.`;
}

/**
 * Hands a link to whoever shares on this machine, or else copies it.
 * @param {string} link
 * @returns {Promise<string>} what is said of it
 */
export async function shareLink(link) {
  if (matchMedia('(hover: none)').matches && navigator.share) {
    try {
      await navigator.share({ url: link });
      return 'Shared.';
    } catch {
      // Called off, or not allowed here: it is copied all the same.
    }
  }
  const field = h('input', { class: 'unseen', value: link, 'aria-hidden': true });
  document.body.append(field);
  const isCopied = await copied(link, field);
  field.remove();
  return isCopied ? 'The link to this match is copied.' : link;
}

/**
 * @param {string} link
 * @param {HTMLInputElement} field that has it
 * @returns {Promise<boolean>}
 */
async function copied(link, field) {
  try {
    await navigator.clipboard.writeText(link);
    return true;
  } catch {
    // Browsers have a clipboard for pages of this machine or of https only: elsewhere the old way.
    field.select();
    return document.execCommand('copy');
  }
}

/**
 * What the host can do instead of waiting.
 * @param {App} app
 * @param {Match} match
 * @param {Node[] | null} bot
 */
function instead(app, match, bot) {
  const cancel = async () => {
    if (await app.ask({ type: 'leave', match: match.match })) app.go('/');
  };
  return h(
    'div',
    { class: 'row instead' },
    ...(bot ?? []),
    h('button', { type: 'button', class: 'quiet', onclick: () => void cancel() }, 'Call it off'),
  );
}

/**
 * @param {App} app
 * @param {Match} match
 * @param {string | undefined} level
 */
function botInstead(app, match, level) {
  const levels = h(
    'select',
    { 'aria-label': 'Level of the bot' },
    ...app.levels.map((known) =>
      h('option', { value: known.level, selected: known.level === level }, known.title),
    ),
  );
  const seat = match.seats.findIndex(({ occupant }) => occupant === 'open');
  const sitDown = () =>
    void app.ask({ type: 'seat', match: match.match, seat, occupant: { bot: levels.value } });
  return [
    h('label', { class: 'field' }, h('span', {}, 'Or a bot'), levels),
    h('button', { type: 'button', onclick: sitDown }, 'Seat it'),
  ];
}
