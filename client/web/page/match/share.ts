// How a match finds its second player: a link and a code to share, or a bot after all.

import { challengedOpponent } from '../social/send-challenge.ts';
import { h, setText } from '../ui/dom.ts';
import { translateParts, translate } from '../text/language.ts';
import { isCorrespondenceClock } from '../lobby/custom-clock.ts';
import { formatDuration } from '../text/time.ts';

import type { App } from '../app/main.ts';
import type { Match } from '../model/match.ts';

const TOLD_MS = 2000;
/** So long a match by days waits for somebody. */
const DAYS_MS = 14 * 24 * 3_600_000;

/**
 * @param match an open one
 * @param level the bot that is offered first
 */
export function shareCard(app: App, match: Match, level: string | undefined) {
  const isHost = match.host === app.player?.id;
  // Bots do not play by days.
  const bot = isCorrespondenceClock(match.clock) ? null : botInstead(app, match, level);
  const challenged = isHost && challengedOpponent(match);
  if (challenged) {
    return h(
      'section',
      { class: 'card share', 'aria-label': translate('share.challenge') },
      h('p', {}, ...translateParts('share.only', { name: h('bdi', {}, challenged) })),
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
    h('h2', { id: 'share-title' }, translate('share.title')),
    h('label', { for: 'link', class: 'unseen' }, translate('share.link')),
    h('div', { class: 'row' }, field, copyButton(field, translate('share.copy'))),
    h(
      'p',
      {},
      ...translateParts('share.code', { code: h('strong', { class: 'code' }, match.code) }),
    ),
    h('p', { class: 'note' }, translate(match.listed ? 'share.listed' : 'share.unlisted')),
    isHost && h('p', { class: 'note' }, waits(app, match)),
    isHost && instead(app, match, bot),
  );
}

/** What copies the text of a field. */
export function copyButton(field: HTMLInputElement | HTMLTextAreaElement, says: string) {
  const copy = h('button', { type: 'button', class: 'primary' }, says);
  copy.addEventListener('click', async () => {
    setText(
      copy,
      (await copied(field.value, field)) ? translate('share.copied') : translate('share.byKey'),
    );
    setTimeout(() => setText(copy, says), TOLD_MS);
  });
  return copy;
}

/** How long it waits for somebody while its host is elsewhere. */
function waits({ connection }: App, { clock }: Match) {
  if (isCorrespondenceClock(clock))
    return translate('share.days', { time: formatDuration(DAYS_MS) });
  const most = connection.welcome?.limits.abandon_after_ms ?? 0;
  return translate('share.waits', { time: formatDuration(most) });
}

/**
 * Hands a link to whoever shares on this machine, or else copies it.
 * @returns what is said of it
 */
export async function shareLink(link: string): Promise<string> {
  if (matchMedia('(hover: none)').matches && navigator.share) {
    try {
      await navigator.share({ url: link });
      return translate('share.shared');
    } catch {
      // Called off, or not allowed here: it is copied all the same.
    }
  }
  const field = h('input', { class: 'unseen', value: link, 'aria-hidden': true });
  document.body.append(field);
  const isCopied = await copied(link, field);
  field.remove();
  return isCopied ? translate('share.done') : link;
}

/** @param field that has it */
async function copied(
  link: string,
  field: HTMLInputElement | HTMLTextAreaElement,
): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(link);
    return true;
  } catch {
    // Browsers have a clipboard for pages of this machine or of https only: elsewhere the old way.
    field.select();
    return document.execCommand('copy');
  }
}

/** What the host can do instead of waiting. */
function instead(app: App, match: Match, bot: Node[] | null) {
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

function botInstead(app: App, match: Match, level: string | undefined) {
  const levels = h(
    'select',
    { 'aria-label': translate('share.level') },
    ...app.levels.map((known) =>
      h('option', { value: known.level, selected: known.level === level }, known.title),
    ),
  );
  const seat = match.seats.findIndex(({ occupant }) => occupant === 'open');
  const sitDown = () =>
    void app.request({ type: 'seat', match: match.match, seat, occupant: { bot: levels.value } });
  return [
    h('label', { class: 'field' }, h('span', {}, translate('share.bot')), levels),
    h('button', { type: 'button', onclick: sitDown }, translate('share.seat')),
  ];
}
