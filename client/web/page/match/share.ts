// The card of an open match: the link and the code for the second player, and the option to play
// against a bot.

import { challengedOpponent } from '../social/send-challenge.ts';
import { h, setText } from '../ui/dom.ts';
import { translateParts, translate } from '../text/language.ts';
import { isCorrespondenceClock } from '../model/clocks.ts';
import { formatDuration } from '../text/time.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

const COPIED_MS = 2000;
/** Time that an open correspondence match waits for the second player. */
const CORRESPONDENCE_WAIT_MS = 14 * 24 * 3_600_000;

/**
 * @param match an open match
 * @param level the preselected bot
 */
export function shareCard(app: App, match: Match, level: string | undefined) {
  const isHost = match.host === app.player?.id;
  // Bots do not play correspondence matches.
  const bot = isCorrespondenceClock(match.clock) ? null : botControls(app, match, level);
  const challenged = isHost && challengedOpponent(match);
  if (challenged) {
    return h(
      'section',
      { class: 'card share', 'aria-label': translate('share.challenge') },
      h('p', {}, ...translateParts('share.only', { name: h('bdi', {}, challenged) })),
      h('p', { class: 'note' }, waitText(app, match)),
      hostActions(app, match, bot),
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
    h('h2', { id: 'share-title' }, translate('share.title')),
    h('label', { for: 'link', class: 'unseen' }, translate('share.link')),
    h('div', { class: 'row' }, field, copyButton(field, translate('share.copy'))),
    h(
      'p',
      {},
      ...translateParts('share.code', { code: h('strong', { class: 'code' }, match.code) }),
    ),
    h('p', { class: 'note' }, translate(match.listed ? 'share.listed' : 'share.unlisted')),
    isHost && h('p', { class: 'note' }, waitText(app, match)),
    isHost && hostActions(app, match, bot),
  );
}

export function copyButton(field: HTMLInputElement | HTMLTextAreaElement, label: string) {
  const copy = h('button', { type: 'button', class: 'primary' }, label);
  copy.addEventListener('click', async () => {
    const isCopied = await copyText(field.value, field);
    setText(copy, translate(isCopied ? 'share.copied' : 'share.byKey'));
    setTimeout(() => setText(copy, label), COPIED_MS);
  });
  return copy;
}

/** Says how long the match stays open while its host is away. */
function waitText({ connection }: App, { clock }: Match) {
  if (isCorrespondenceClock(clock))
    return translate('share.days', { time: formatDuration(CORRESPONDENCE_WAIT_MS) });
  const abandonAfterMs = connection.welcome?.limits.abandon_after_ms ?? 0;
  return translate('share.waits', { time: formatDuration(abandonAfterMs) });
}

/**
 * Opens the share dialog of a touch device, or copies the link.
 * @returns the text of the toast
 */
export async function shareLink(link: string): Promise<string> {
  if (matchMedia('(hover: none)').matches && navigator.share) {
    try {
      await navigator.share({ url: link });
      return translate('share.shared');
    } catch {
      // The user cancelled or the browser forbids sharing: copy the link instead.
    }
  }
  const field = h('input', { class: 'unseen', value: link, 'aria-hidden': true });
  document.body.append(field);
  const isCopied = await copyText(link, field);
  field.remove();
  return isCopied ? translate('share.done') : link;
}

/** @param field contains the text */
async function copyText(
  text: string,
  field: HTMLInputElement | HTMLTextAreaElement,
): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard API needs HTTPS or localhost.
    field.select();
    return document.execCommand('copy');
  }
}

/** The host's alternatives to waiting: play against a bot or cancel the match. */
function hostActions(app: App, match: Match, bot: Node[] | null) {
  const cancel = async () => {
    if (await app.request({ type: 'leave', match: match.match })) app.navigate('/');
  };
  return h(
    'div',
    { class: 'row instead' },
    ...(bot ?? []),
    h(
      'button',
      { type: 'button', class: 'quiet', onclick: () => void cancel() },
      translate('share.callOff'),
    ),
  );
}

function botControls(app: App, match: Match, level: string | undefined) {
  const levels = h(
    'select',
    { 'aria-label': translate('share.level') },
    ...app.levels.map(({ level: value, title }) =>
      h('option', { value, selected: value === level }, title),
    ),
  );
  const seat = match.seats.findIndex(({ occupant }) => occupant === 'open');
  const seatBot = () =>
    void app.request({ type: 'seat', match: match.match, seat, occupant: { bot: levels.value } });
  return [
    h('label', { class: 'field' }, h('span', {}, translate('share.bot')), levels),
    h('button', { type: 'button', onclick: seatBot }, translate('share.seat')),
  ];
}
