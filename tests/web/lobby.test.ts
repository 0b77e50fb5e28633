// The lists of open and running matches in the lobby.

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

/** Creates an open match and returns its code. */
const openMatch = async (page: Page, game?: string) =>
  codeFromLink(await createOpenMatch(page, game));

const joinButton = (page: Page, code: string) =>
  page.getByRole('button', { name: `Join: ${code}` });

/** Counts the requests on the last connection of the page by type. */
function countRequests(page: Page) {
  let types: string[] = [];
  page.on('websocket', (socket) => {
    types = [];
    socket.on('framesent', ({ payload }) => types.push(JSON.parse(String(payload)).type));
  });
  return (type: string) => types.filter((sent) => sent === type).length;
}

test(
  'the match lists change by themselves and are requested once',
  withServer(async (harness) => {
    const eve = await harness.openPage();
    const count = countRequests(eve);
    await eve.reload();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const ann = await harness.openPage();
    const first = await openMatch(ann);
    await joinButton(eve, first).waitFor();
    await ann.getByRole('button', { name: 'Add bot' }).click();
    await eve.getByRole('button', { name: `Watch: ${first}` }).waitFor();
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await eve.getByText('No match is being played now.').waitFor();
    assert.deepEqual([count('watch_list'), count('list')], [1, 2]);
    // The page cancels its subscription when a match starts.
    await startBotMatch(eve);
    await waitForMyTurn(eve);
    assert.equal(count('unwatch_list'), 1);
  }),
);

test(
  'the match lists keep changing after a reconnection',
  withServer(async (harness) => {
    harness.expectsFailures = true;
    const eve = await harness.openPage();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    await harness.server.kill();
    await eve.getByText('Next try in').waitFor();
    await harness.server.start();
    await eve.getByText('Next try in').waitFor({ state: 'hidden' });
    const ann = await harness.openPage();
    await joinButton(eve, await openMatch(ann)).waitFor();
  }),
);

test(
  'the match lists are requested again after a reset',
  withServer(async (harness) => {
    const eve = await harness.openPage();
    const reset = { type: 'list_changed', changed: [], gone: [], total: 1, reset: true };
    await eve.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      server.onMessage((text) => {
        const { type, changed, gone } = JSON.parse(String(text));
        if (type !== 'list_changed') socket.send(text);
        else if (changed.length + gone.length > 0) socket.send(JSON.stringify(reset));
      });
    });
    await eve.reload();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const ann = await harness.openPage();
    await joinButton(eve, await openMatch(ann)).waitFor();
  }),
);

test(
  'the match lists can be filtered by game',
  withServer(async (harness) => {
    const eve = await harness.openPage();
    const [ann, bob, cem] = [
      await harness.openPage(),
      await harness.openPage(),
      await harness.openPage(),
    ];
    const drops = await openMatch(ann, 'Connect Four');
    const noughts = await openMatch(bob, 'Tic-tac-toe');
    for (const code of [drops, noughts]) await joinButton(eve, code).waitFor();
    const games = eve.getByLabel('Matches of');
    await games.selectOption('Connect Four');
    await joinButton(eve, noughts).waitFor({ state: 'detached' });
    await joinButton(eve, drops).waitFor();
    // The page does not list a match of another game, although it lists a later change of this
    // game.
    const secondNoughts = await openMatch(cem, 'Tic-tac-toe');
    await ann.getByRole('button', { name: 'Cancel' }).click();
    await joinButton(eve, drops).waitFor({ state: 'detached' });
    assert.equal(await eve.getByRole('button', { name: /^Join: / }).count(), 0);
    await games.selectOption('All games');
    for (const code of [noughts, secondNoughts]) await joinButton(eve, code).waitFor();
  }),
);

test(
  'an invitation is not listed: the first visitor of its link plays, and later ones watch',
  withServer(async (harness) => {
    const eve = await harness.openPage();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const ann = await harness.openPage();
    const link = await inviteFriend(ann);
    await ann.getByText('Only by this link').waitFor();
    await ann.getByText('If you close this page, it waits for you for 5 min.').waitFor();
    const cem = await harness.openPage();
    const open = await openMatch(cem);
    await cem.getByText('It stands under “Open matches”, too').waitFor();
    await joinButton(eve, open).waitFor();
    assert.equal(await eve.getByRole('button', { name: /^Join: / }).count(), 1);
    const bob = await harness.openPage(link);
    await bob.getByText('O · you').waitFor();
    await waitForMyTurn(ann);
    const dan = await harness.openPage(link);
    await dan.getByText('You are watching.').waitFor();
    // The running match is not listed, either.
    assert.equal(await eve.getByRole('button', { name: /^Watch: / }).count(), 0);
  }),
);

test(
  'a hidden page unsubscribes from the match lists, and subscribes again when it is visible',
  withServer(async (harness) => {
    const eve = await harness.openPage();
    const count = countRequests(eve);
    await eve.reload();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const setVisible = (isVisible: boolean) =>
      eve.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, !isVisible);
    await setVisible(false);
    const ann = await harness.openPage();
    const code = await openMatch(ann);
    assert.deepEqual([count('watch_list'), count('unwatch_list')], [1, 1]);
    await setVisible(true);
    await joinButton(eve, code).waitFor();
    assert.equal(count('watch_list'), 2);
  }),
);

test(
  'invalid values in localStorage do not prevent playing',
  withServer(async (harness) => {
    const ann = await harness.openPage();
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
