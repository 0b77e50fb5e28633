// Requests and a button to block a player. The server does not pair the two players and hides their
// chat messages from each other.

import { h, setText } from '../ui/dom.ts';
import { translate } from '../text/language.ts';

import type { BlockList, NamedPlayer } from '../net/protocol.ts';
import type { App } from '../app/main.ts';

/** The user's block list; `null` if the request fails. */
export const fetchBlockedPlayers = (app: App): Promise<BlockList | null> =>
  app.connection.request({ type: 'block' }).catch(() => null);

/**
 * Blocks or unblocks a player.
 * @returns the new block list; `null` if the request fails
 */
export async function setBlocked(
  app: App,
  { player, name }: NamedPlayer,
  blocked: boolean,
): Promise<BlockList | null> {
  const list = await app.request({ type: 'block', player, on: blocked });
  if (list) app.toast(translate(blocked ? 'block.done' : 'block.undone', { name }));
  return list;
}

/** Button to block or unblock a player, hidden until the block list arrives. */
export function blockButton(app: App, player: NamedPlayer) {
  let isBlocked = false;
  const button = h('button', { type: 'button', class: 'quiet', hidden: true });
  const show = (list: BlockList | null) => {
    if (!list) return;
    isBlocked = list.players.some(({ id }) => id === player.player);
    setText(button, translate(isBlocked ? 'block.off' : 'block.on', { name: player.name }));
    button.title = isBlocked ? '' : translate('block.about');
    button.hidden = false;
  };
  button.addEventListener('click', async () => show(await setBlocked(app, player, !isBlocked)));
  void fetchBlockedPlayers(app).then(show);
  return button;
}
