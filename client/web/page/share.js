// How a match finds its second player: a link and a code to share, or a bot after all.

import { challengedTo } from './challenging.js';
import { h, write } from './dom.js';
import { parts, say } from './language.js';
import { isOfDays } from './own-clock.js';
import { spanWords } from './time.js';

/** @import { App } from './main.js' */
/** @import { Match } from './match.js' */

const TOLD_MS = 2000;
/** So long a match by days waits for somebody. */
const DAYS_MS = 14 * 24 * 3_600_000;

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
      { class: 'card share', 'aria-label': say('share.challenge') },
      h('p', {}, ...parts('share.only', { name: h('bdi', {}, challenged) })),
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
  return h(
    'section',
    { class: 'card share', 'aria-labelledby': 'share-title' },
    h('h2', { id: 'share-title' }, say('share.title')),
    h('label', { for: 'link', class: 'unseen' }, say('share.link')),
    h('div', { class: 'row' }, field, copyButton(field, say('share.copy'))),
    h('p', {}, ...parts('share.code', { code: h('strong', { class: 'code' }, match.code) })),
    h('p', { class: 'note' }, say(match.listed ? 'share.listed' : 'share.unlisted')),
    isHost && h('p', { class: 'note' }, waits(app, match)),
    isHost && instead(app, match, bot),
  );
}

/**
 * What copies the text of a field.
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 * @param {string} says
 */
export function copyButton(field, says) {
  const copy = h('button', { type: 'button', class: 'primary' }, says);
  copy.addEventListener('click', async () => {
    write(copy, (await copied(field.value, field)) ? say('share.copied') : say('share.byKey'));
    setTimeout(() => write(copy, says), TOLD_MS);
  });
  return copy;
}

/**
 * How long it waits for somebody while its host is elsewhere.
 * @param {App} app
 * @param {Match} match
 */
function waits({ connection }, { clock }) {
  if (isOfDays(clock)) return say('share.days', { time: spanWords(DAYS_MS) });
  const most = connection.welcome?.limits.abandon_after_ms ?? 0;
  return say('share.waits', { time: spanWords(most) });
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
      return say('share.shared');
    } catch {
      // Called off, or not allowed here: it is copied all the same.
    }
  }
  const field = h('input', { class: 'unseen', value: link, 'aria-hidden': true });
  document.body.append(field);
  const isCopied = await copied(link, field);
  field.remove();
  return isCopied ? say('share.done') : link;
}

/**
 * @param {string} link
 * @param {HTMLInputElement | HTMLTextAreaElement} field that has it
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
    h(
      'button',
      { type: 'button', class: 'quiet', onclick: () => void cancel() },
      say('share.callOff'),
    ),
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
    { 'aria-label': say('share.level') },
    ...app.levels.map((known) =>
      h('option', { value: known.level, selected: known.level === level }, known.title),
    ),
  );
  const seat = match.seats.findIndex(({ occupant }) => occupant === 'open');
  const sitDown = () =>
    void app.ask({ type: 'seat', match: match.match, seat, occupant: { bot: levels.value } });
  return [
    h('label', { class: 'field' }, h('span', {}, say('share.bot')), levels),
    h('button', { type: 'button', onclick: sitDown }, say('share.seat')),
  ];
}
