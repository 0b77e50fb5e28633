// Matches that count for ratings, and matches that not everybody may watch: what is asked for.

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

/** Refuses requests of these types, and tells each of them in turn. */
async function refusing(
  page: Page,
  types: string[],
): Promise<(does: () => Promise<void>) => Promise<any>> {
  let heard = (_request: any) => {};
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const request = JSON.parse(String(text));
      if (!types.includes(request.type)) return server.send(text);
      const refusal = { code: 'overloaded', message: 'it is full', retryable: true };
      socket.send(JSON.stringify({ type: 'error', re: request.id, ...refusal }));
      heard(request);
    });
  });
  await page.reload();
  return async (does) => {
    const asked = new Promise((resolve) => (heard = resolve));
    await does();
    return asked;
  };
}

const rated = (page: Page) => page.getByRole('checkbox', { name: /^Rated/ });

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    lying: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `whoever has an account may play for ratings, by the clock: ${size}`,
    withServer(async (house) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await house.openPage('/', options);
      await chooseClock(ann, '5+3');
      assert.equal(await rated(ann).count(), 0);
      // Until one can choose it is told what it is.
      const casual = ann.getByText('Casual: no rating changes.');
      await casual.waitFor();
      await signUp(ann, 'ada');
      const asked = await refusing(ann, ['create', 'seek']);
      const click = (name: string | RegExp) =>
        asked(() => ann.getByRole('button', { name }).click());
      await chooseClock(ann, '5+3');
      await rated(ann).check();
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
      const invited = await click('Invite a friend');
      const sought = await click('Find an opponent');
      await ann.getByText('The server has more to do than it can now.').waitFor();
      const bot = await click(/^Play the/);
      assert.equal(invited.rated, true);
      assert.equal(invited.takeback, false);
      assert.equal(invited.delay_ms, 180_000);
      assert.ok(!('stand_in' in invited) && !('watch' in invited));
      assert.equal(sought.rated, true);
      assert.deepEqual(sought.rating, [-200, 200]);
      assert.ok(!('bot' in sought) && !('stand_in' in sought) && !('takeback' in sought));
      assert.ok(!('rated' in bot) && !('delay_ms' in bot));
      assert.equal(bot.takeback, true);
      // Without a clock nothing counts, whatever was chosen before.
      await chooseClock(ann, 'None');
      assert.equal(await rated(ann).count(), 0);
      await ann.getByLabel('If somebody leaves').waitFor();
      const plain = await click('Invite a friend');
      assert.ok(!('rated' in plain));
      assert.equal(plain.takeback, true);
    }),
  );
}

test(
  'whoever makes a match says who may watch it, and when',
  withServer(async (house) => {
    const ann = await house.openPage();
    const asked = await refusing(ann, ['create']);
    const open = () =>
      asked(() => ann.getByRole('button', { name: 'Create an open match' }).click());
    const usual = await open();
    assert.ok(!('watch' in usual) && !('delay_ms' in usual));
    await ann.getByText('Who may watch').first().click();
    const who = ann.getByRole('combobox', { name: 'Who may watch' });
    await who.selectOption('Whoever has the link');
    await ann.getByLabel('They see it').selectOption('10 minutes later');
    const late = await open();
    assert.equal(late.watch, 'code');
    assert.equal(late.delay_ms, 600_000);
    await who.selectOption('Nobody but us');
    await ann.getByLabel('They see it').waitFor({ state: 'hidden' });
    const alone = await open();
    assert.equal(alone.watch, 'nobody');
    assert.ok(!('delay_ms' in alone));
    // By days nobody sees it later.
    await who.selectOption('Anybody');
    await chooseClock(ann, '3 days a move');
    const days = await open();
    assert.equal(days.watch, 'anyone');
    assert.ok(!('delay_ms' in days));
  }),
);

test(
  'two with accounts play for ratings, and see what has changed',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true });
    await signUp(ann, 'ada');
    await chooseClock(ann, '5+3');
    await rated(ann).check();
    const link = await inviteFriend(ann, 'Connect Four');
    // Whoever has no account watches, and is told why.
    const bob = await house.openPage(link);
    await bob.getByText('For this one signs up first.').waitFor();
    await signUp(bob, 'bob');
    // Whichever page says hello last is the one that stays.
    await bob.locator('html[data-link=open]').waitFor();
    await bob.goto(link);
    await waitForMyTurn(ann);
    const mine = ann.locator('.player.below .rating');
    await mine.getByText('1500?', { exact: true }).waitFor();
    await ann.locator('.heading').getByText('rated').waitFor();
    await barButton(ann, 'Take back').and(ann.locator('[aria-disabled=true]')).waitFor();
    await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
    await ann.getByText(/^Your rating: 1\d\d\d\? \(\+\d+\)$/).waitFor();
    await bob.getByText(/^Your rating: 1\d\d\d\? \(−\d+\)$/).waitFor();
    await mine.filter({ hasText: /^1500\? \+\d+$/ }).waitFor();
    await expectAccessible(ann, 'rated end');
    await takeScreenshot(ann, 'rated-end');
    // It stays, and stands under one’s name.
    await bob.reload();
    await bob.locator('.player.below .rating', { hasText: /^1500\? −\d+$/ }).waitFor();
    await bob.locator('.player.above').getByRole('link', { name: 'ada' }).click();
    const chess = bob.getByRole('region', { name: 'Connect Four, by the clock' });
    await chess.getByText(/^1[5-9]\d\d\?$/).waitFor();
    await chess.getByText('1 rated game').waitFor();
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    // Nobody can be sure of one game.
    await bob.getByRole('link', { name: 'Leaderboards' }).click();
    await bob.getByLabel('Game').selectOption('Connect Four');
    await bob.getByText('Nobody yet.').waitFor();
    // Once more, from the match, counts again.
    await barButton(ann, 'Rematch').click();
    await ann.getByText('Waiting for bob to accept.').first().waitFor();
    await bob.goto(link);
    await bob.getByRole('button', { name: 'Accept' }).click();
    await bob.locator('.heading').getByText('rated').waitFor();
  }),
);

test(
  'what stands in a list tells that it counts, and a challenge does',
  withServer(async (house) => {
    const ann = await house.openPage();
    await signUp(ann, 'ada');
    await chooseClock(ann, '5+3');
    await rated(ann).check();
    await ann.getByRole('button', { name: 'Create an open match' }).click();
    const bob = await house.openPage();
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
  'whoever may not watch a match any more is told so',
  withServer(async (house) => {
    const ann = await house.openPage();
    const eve = await house.openPage(await inviteFriend(ann));
    await waitForMyTurn(ann);
    // Whom one blocks can only watch.
    await ann.getByRole('button', { name: 'Words' }).click();
    await ann.getByRole('button', { name: 'Block', exact: true }).click();
    await ann.getByRole('button', { name: 'Unblock' }).waitFor();
    await ann.goto('/');
    await ann.getByText('Who may watch').first().click();
    await ann.getByRole('combobox', { name: 'Who may watch' }).selectOption('Nobody but us');
    const link = await inviteFriend(ann, 'Chess');
    await eve.goto(link);
    await waitForStatus(eve, 'Waiting for a player.');
    const bob = await house.openPage(link);
    await waitForMyTurn(ann);
    await eve.getByRole('heading', { name: 'Only those who play may see this match.' }).waitFor();
    const dan = await house.openPage(link);
    await dan.getByRole('heading', { name: 'There is no match with this code now.' }).waitFor();
    await playMoves(ann, bob, 'e2-e4 e7-e5');
  }),
);

test(
  'both go on to the rematch of a match that others see later, which has a link of its own',
  withServer(async (house) => {
    const ann = await house.openPage();
    await ann.getByText('Who may watch').first().click();
    await ann.getByLabel('They see it').selectOption('10 minutes later');
    const link = await inviteFriend(ann, 'Tic-tac-toe');
    const bob = await house.openPage(link);
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
