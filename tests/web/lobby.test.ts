// The lobby: what others wait in and play, as it changes.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  codeFromLink,
  inviteFriend,
  createOpenMatch,
  startBotMatch,
  waitForMyTurn,
} from './page-actions.ts';
import { closeBrowser, withServer } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/** Opens a match to all, and gives its code. */
const opened = async (page: Page, game?: string) => codeFromLink(await createOpenMatch(page, game));

const join = (page: Page, code: string) => page.getByRole('button', { name: `Join: ${code}` });

/** How often the page asks for what, over its last connection. */
function asked(page: Page) {
  let types: string[] = [];
  page.on('websocket', (socket) => {
    types = [];
    socket.on('framesent', ({ payload }) => types.push(JSON.parse(String(payload)).type));
  });
  return (type: string) => types.filter((known) => known === type).length;
}

test(
  'the lists change by themselves, and are asked for once',
  withServer(async (house) => {
    const eve = await house.openPage();
    const count = asked(eve);
    await eve.reload();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const ann = await house.openPage();
    const first = await opened(ann);
    await join(eve, first).waitFor();
    await ann.getByRole('button', { name: 'Add bot' }).click();
    await eve.getByRole('button', { name: `Watch: ${first}` }).waitFor();
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await eve.getByText('No match is being played now.').waitFor();
    assert.deepEqual([count('watch_list'), count('list')], [1, 2]);
    // Whoever plays looks at no list.
    await startBotMatch(eve);
    await waitForMyTurn(eve);
    assert.equal(count('unwatch_list'), 1);
  }),
);

test(
  'the lists go on after the connection was lost',
  withServer(async (house) => {
    house.expectsFailures = true;
    const eve = await house.openPage();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    await house.server.kill();
    await eve.getByText('Next try in').waitFor();
    await house.server.start();
    await eve.getByText('Next try in').waitFor({ state: 'hidden' });
    const ann = await house.openPage();
    await join(eve, await opened(ann)).waitFor();
  }),
);

test(
  'after too many changes the lists are asked for anew',
  withServer(async (house) => {
    const eve = await house.openPage();
    let tell: (text: string) => void = () => {};
    await eve.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      tell = (text) => socket.send(text);
      server.onMessage((text) => {
        const { type, changed, gone } = JSON.parse(String(text));
        if (type !== 'list_changed') socket.send(text);
        else if (changed.length + gone.length > 0) tell(reset);
      });
    });
    const reset = JSON.stringify({
      type: 'list_changed',
      changed: [],
      gone: [],
      total: 1,
      reset: true,
    });
    await eve.reload();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const ann = await house.openPage();
    await join(eve, await opened(ann)).waitFor();
  }),
);

test(
  'one looks at the matches of one game',
  withServer(async (house) => {
    const eve = await house.openPage();
    const [ann, bob, cem] = [
      await house.openPage(),
      await house.openPage(),
      await house.openPage(),
    ];
    const drops = await opened(ann, 'Connect Four');
    const noughts = await opened(bob, 'Tic-tac-toe');
    for (const code of [drops, noughts]) await join(eve, code).waitFor();
    const games = eve.getByLabel('Matches of');
    await games.selectOption('Connect Four');
    await join(eve, noughts).waitFor({ state: 'detached' });
    await join(eve, drops).waitFor();
    // The next change is of this game; what came before it is not to be seen.
    const others = await opened(cem, 'Tic-tac-toe');
    await ann.getByRole('button', { name: 'Cancel' }).click();
    await join(eve, drops).waitFor({ state: 'detached' });
    assert.equal(await eve.getByRole('button', { name: /^Join: / }).count(), 0);
    await games.selectOption('All games');
    for (const code of [noughts, others]) await join(eve, code).waitFor();
  }),
);

test(
  'an invitation is by its link only; who comes first plays, and who comes later watches',
  withServer(async (house) => {
    const eve = await house.openPage();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const ann = await house.openPage();
    const link = await inviteFriend(ann);
    await ann.getByText('Only by this link').waitFor();
    await ann.getByText('If you close this page, it waits for you for 5 min.').waitFor();
    const cem = await house.openPage();
    const open = await opened(cem);
    await cem.getByText('It stands under “Open matches”, too').waitFor();
    await join(eve, open).waitFor();
    assert.equal(await eve.getByRole('button', { name: /^Join: / }).count(), 1);
    const bob = await house.openPage(link);
    await bob.getByText('O · you').waitFor();
    await waitForMyTurn(ann);
    const dan = await house.openPage(link);
    await dan.getByText('You are watching.').waitFor();
    // Nor is it while it is played.
    assert.equal(await eve.getByRole('button', { name: /^Watch: / }).count(), 0);
  }),
);

test(
  'a page out of sight is told of no list, and looks again when it is seen',
  withServer(async (house) => {
    const eve = await house.openPage();
    const count = asked(eve);
    await eve.reload();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const seen = (isSeen: boolean) =>
      eve.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, !isSeen);
    await seen(false);
    const ann = await house.openPage();
    const code = await opened(ann);
    assert.deepEqual([count('watch_list'), count('unwatch_list')], [1, 1]);
    await seen(true);
    await join(eve, code).waitFor();
    assert.equal(count('watch_list'), 2);
  }),
);

test(
  'what makes no sense in the storage keeps nobody from playing',
  withServer(async (house) => {
    const ann = await house.openPage();
    for (const text of ['"x"', '7', '[null]', 'null', 'garbage{']) {
      await ann.getByRole('button', { name: /^Play the/ }).waitFor();
      await ann.evaluate((text) => {
        localStorage.setItem('plyhouse.choice', text);
        localStorage.setItem('plyhouse.days', text);
      }, text);
      await ann.reload();
    }
    await startBotMatch(ann);
  }),
);
