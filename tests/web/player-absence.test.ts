// Bots that substitute for players who are absent or have left.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  barButton,
  inviteWithTerms,
  expectAccessible,
  countMoves,
  waitForMyTurn,
  playMove,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot } from './support.ts';

after(closeBrowser);

test(
  'a bot substitutes for an absent player, who gets the seat back on return',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const terms = { stand_in: 'easy', patience_ms: 10_000 };
    const bob = await harness.openPage(await inviteWithTerms(ann, terms, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    const url = bob.url();
    await bob.close();
    await ann.getByText(/away, \ds until a bot sits in/).waitFor();
    await takeScreenshot(ann, 'absent');
    await ann.locator('.player', { hasText: /Easy bot for guest-\w+/ }).waitFor();
    // The bot plays on.
    await waitForMyTurn(ann);
    assert.equal(await countMoves(ann), 2);
    await takeScreenshot(ann, 'stood-in');
    // The match page loads only after the server has sent the match. No service worker may answer
    // the request.
    const storageState = await bob.context().storageState();
    const browser = bob.context().browser();
    const context = await browser?.newContext({ storageState, serviceWorkers: 'block' });
    assert.ok(context);
    const returned = await context.newPage();
    const matchReceived = new Promise((resolve) => {
      returned.on('websocket', (socket) => {
        socket.on('framereceived', ({ payload }) => {
          if (JSON.parse(String(payload)).type === 'match') resolve(null);
        });
      });
    });
    await returned.route(/\/match\.js/, async (route) => {
      await matchReceived;
      await route.continue();
    });
    await returned.goto(url);
    await returned.getByText('Black · you').waitFor();
    await ann.locator('.player', { hasText: 'Easy bot' }).waitFor({ state: 'detached' });
    await playMove(ann, 'd2', 'd4');
    await waitForMyTurn(returned);
    await context.close();
  }),
);

test(
  'a player can leave the seat to a bot, watch, and take the seat back',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    const bob = await harness.openPage(await inviteWithTerms(ann, { stand_in: 'hard' }, 'Chess'));
    await waitForMyTurn(ann);
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Let the hard bot play on' }).click();
    await ann.getByText('A bot plays for you.').first().waitFor();
    await bob.locator('.player', { hasText: /Hard bot for guest-\w+/ }).waitFor();
    await waitForMyTurn(bob);
    await expectAccessible(ann, 'stood in for');
    await takeScreenshot(ann, 'stood-in-for');
    await ann.getByRole('button', { name: 'Take the seat back' }).click();
    await ann.getByText('White · you').waitFor();
    await playMove(bob, 'a7', 'a6');
    await waitForMyTurn(ann);
  }),
);

test(
  'a player whose bot played to the end can offer a rematch',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteWithTerms(ann, { stand_in: 'easy' }, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Let the easy bot play on' }).click();
    await bob.getByText('A bot plays for you.').first().waitFor();
    await waitForMyTurn(ann);
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    // The result and the rematch are for the original players.
    await waitForStatus(bob, 'You win!');
    await barButton(bob, 'Rematch').click();
    await ann.getByRole('button', { name: 'Accept' }).click();
    await bob.getByText('White · you').waitFor();
    await waitForMyTurn(bob);
  }),
);
