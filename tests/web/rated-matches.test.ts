// Rated matches and the options for spectators.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  chooseClock,
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  expectAccessible,
  waitForMyTurn,
  playMoves,
  waitForStatus,
  signUp,
  waitForSameUrl,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/**
 * Rejects requests of these types. The returned function runs an action and resolves to the request
 * that it causes.
 */
async function rejectRequests(page: Page, types: string[]) {
  let onRequest = (_request: any) => {};
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const request = JSON.parse(String(text));
      if (!types.includes(request.type)) return server.send(text);
      const error = { code: 'overloaded', message: 'it is full', retryable: true };
      socket.send(JSON.stringify({ type: 'error', re: request.id, ...error }));
      onRequest(request);
    });
  });
  await page.reload();
  return async (action: () => Promise<void>) => {
    const request = new Promise<any>((resolve) => (onRequest = resolve));
    await action();
    return request;
  };
}

const ratedBox = (page: Page) => page.getByRole('checkbox', { name: /^Rated/ });

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    landscape: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `players with an account can choose rated matches with a clock: ${size}`,
    withServer(async (harness) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await harness.openPage('/', options);
      await chooseClock(ann, '5+3');
      assert.equal(await ratedBox(ann).count(), 0);
      // Without a choice, the page says that the match is casual.
      const casual = ann.getByText('Casual: no rating changes.');
      await casual.waitFor();
      await signUp(ann, 'ada');
      const requestOf = await rejectRequests(ann, ['create', 'seek']);
      const click = (name: string | RegExp) =>
        requestOf(() => ann.getByRole('button', { name }).click());
      await chooseClock(ann, '5+3');
      await ratedBox(ann).check();
      assert.equal(await casual.isVisible(), false);
      await ann.getByText('No bot comes.').waitFor();
      await ann.getByText('Against a bot it does not count.').waitFor();
      assert.equal(await ann.getByLabel('Taking moves back').isVisible(), false);
      assert.equal(await ann.getByLabel('If somebody leaves').isVisible(), false);
      await ann.getByText('Who may watch').first().click();
      assert.equal(await ann.getByRole('combobox', { name: 'Who may watch' }).count(), 0);
      await ann.getByLabel('They see it').selectOption('3 minutes later');
      await expectAccessible(ann, 'rated');
      await expectNoHorizontalOverflow(ann);
      await takeScreenshot(ann, `rated-${size}`);
      const invitation = await click('Invite a friend');
      const seek = await click('Find an opponent');
      await ann.getByText('The server has more to do than it can now.').waitFor();
      const botMatch = await click(/^Play the/);
      assert.equal(invitation.rated, true);
      assert.equal(invitation.takeback, false);
      assert.equal(invitation.delay_ms, 180_000);
      assert.ok(!('stand_in' in invitation) && !('watch' in invitation));
      assert.equal(seek.rated, true);
      assert.deepEqual(seek.rating, [-200, 200]);
      assert.ok(!('bot' in seek) && !('stand_in' in seek) && !('takeback' in seek));
      assert.ok(!('rated' in botMatch) && !('delay_ms' in botMatch));
      assert.equal(botMatch.takeback, true);
      // A match without a clock cannot be rated.
      await chooseClock(ann, 'None');
      assert.equal(await ratedBox(ann).count(), 0);
      await ann.getByLabel('If somebody leaves').waitFor();
      const withoutClock = await click('Invite a friend');
      assert.ok(!('rated' in withoutClock));
      assert.equal(withoutClock.takeback, true);
    }),
  );
}

test(
  'the creator of a match decides who may watch it and with which delay',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const requestOf = await rejectRequests(ann, ['create']);
    const createMatch = () =>
      requestOf(() => ann.getByRole('button', { name: 'Create an open match' }).click());
    const standard = await createMatch();
    assert.ok(!('watch' in standard) && !('delay_ms' in standard));
    await ann.getByText('Who may watch').first().click();
    const spectators = ann.getByRole('combobox', { name: 'Who may watch' });
    await spectators.selectOption('Whoever has the link');
    await ann.getByLabel('They see it').selectOption('10 minutes later');
    const delayed = await createMatch();
    assert.equal(delayed.watch, 'code');
    assert.equal(delayed.delay_ms, 600_000);
    await spectators.selectOption('Nobody but us');
    await ann.getByLabel('They see it').waitFor({ state: 'hidden' });
    const withoutSpectators = await createMatch();
    assert.equal(withoutSpectators.watch, 'nobody');
    assert.ok(!('delay_ms' in withoutSpectators));
    // Correspondence matches have no delay.
    await spectators.selectOption('Anybody');
    await chooseClock(ann, '3 days a move');
    const correspondence = await createMatch();
    assert.equal(correspondence.watch, 'anyone');
    assert.ok(!('delay_ms' in correspondence));
  }),
);

test(
  'players of a rated match see the changes of their ratings',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    await signUp(ann, 'ada');
    await chooseClock(ann, '5+3');
    await ratedBox(ann).check();
    const link = await inviteFriend(ann, 'Connect Four');
    // A guest watches, and the page says why.
    const bob = await harness.openPage(link);
    await bob.getByText('For this one signs up first.').waitFor();
    await signUp(bob, 'bob');
    // Waits for the connection of this page, which could otherwise replace that of the next page.
    await bob.locator('html[data-link=open]').waitFor();
    await bob.goto(link);
    await waitForMyTurn(ann);
    const ownRating = ann.locator('.player.below .rating');
    await ownRating.getByText('1500?', { exact: true }).waitFor();
    await ann.locator('.heading').getByText('rated').waitFor();
    await barButton(ann, 'Take back').and(ann.locator('[aria-disabled=true]')).waitFor();
    await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
    await ann.getByText(/^Your rating: 1\d\d\d\? \(\+\d+\)$/).waitFor();
    await bob.getByText(/^Your rating: 1\d\d\d\? \(−\d+\)$/).waitFor();
    await ownRating.filter({ hasText: /^1500\? \+\d+$/ }).waitFor();
    await expectAccessible(ann, 'rated end');
    await takeScreenshot(ann, 'rated-end');
    // The change is still shown after a reload, and the profile has the new rating.
    await bob.reload();
    await bob.locator('.player.below .rating', { hasText: /^1500\? −\d+$/ }).waitFor();
    await bob.locator('.player.above').getByRole('link', { name: 'ada' }).click();
    const chess = bob.getByRole('region', { name: 'Connect Four, by the clock' });
    await chess.getByText(/^1[5-9]\d\d\?$/).waitFor();
    await chess.getByText('1 rated game').waitFor();
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    // After one game, the rating is too uncertain for the leaderboard.
    await bob.getByRole('link', { name: 'Leaderboards' }).click();
    await bob.getByLabel('Game').selectOption('Connect Four');
    await bob.getByText('Nobody yet.').waitFor();
    // The rematch is rated, too.
    await barButton(ann, 'Rematch').click();
    await ann.getByText('Waiting for bob to accept.').first().waitFor();
    await bob.goto(link);
    await bob.getByRole('button', { name: 'Accept' }).click();
    await bob.locator('.heading').getByText('rated').waitFor();
  }),
);

test(
  'match lists and challenges mark rated matches',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await signUp(ann, 'ada');
    await chooseClock(ann, '5+3');
    await ratedBox(ann).check();
    await ann.getByRole('button', { name: 'Create an open match' }).click();
    const bob = await harness.openPage();
    await signUp(bob, 'bob');
    await bob.locator('.rows li', { hasText: 'ada (1500?)' }).getByText('rated').waitFor();
    await bob.goto('/player/ada');
    await bob.getByRole('button', { name: 'Challenge' }).click();
    const dialog = bob.getByRole('dialog');
    await dialog.getByRole('checkbox', { name: /^Rated/ }).check();
    await dialog.getByRole('button', { name: 'Challenge' }).click();
    await ann.locator('#challenges').getByText('rated').waitFor();
    await ann.getByRole('button', { name: 'Play', exact: true }).click();
    await bob.locator('.heading').getByText('rated').waitFor();
  }),
);

test(
  'a spectator who may no longer watch sees why',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const eve = await harness.openPage(await inviteFriend(ann));
    await waitForMyTurn(ann);
    // A blocked player can only watch.
    await ann.getByRole('button', { name: 'Words' }).click();
    await ann.getByRole('button', { name: 'Block', exact: true }).click();
    await ann.getByRole('button', { name: 'Unblock' }).waitFor();
    await ann.goto('/');
    await ann.getByText('Who may watch').first().click();
    await ann.getByRole('combobox', { name: 'Who may watch' }).selectOption('Nobody but us');
    const link = await inviteFriend(ann, 'Chess');
    await eve.goto(link);
    await waitForStatus(eve, 'Waiting for a player.');
    const bob = await harness.openPage(link);
    await waitForMyTurn(ann);
    await eve.getByRole('heading', { name: 'Only those who play may see this match.' }).waitFor();
    const dan = await harness.openPage(link);
    await dan.getByRole('heading', { name: 'There is no match with this code now.' }).waitFor();
    await playMoves(ann, bob, 'e2-e4 e7-e5');
  }),
);

test(
  'the rematch of a match with a spectator delay has its own link, which both players get',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await ann.getByText('Who may watch').first().click();
    await ann.getByLabel('They see it').selectOption('10 minutes later');
    const link = await inviteFriend(ann, 'Tic-tac-toe');
    const bob = await harness.openPage(link);
    await waitForMyTurn(ann);
    await playMoves(ann, bob, 'a1 b2');
    await barButton(ann, 'Resign …').click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await barButton(ann, 'Rematch').click();
    await bob.getByRole('button', { name: 'Accept' }).click();
    await waitForMyTurn(bob);
    await waitForSameUrl(ann, bob);
    await Promise.all([ann, bob].map((page) => page.waitForURL((to) => to.href !== link)));
    assert.equal(ann.url(), bob.url());
  }),
);
