// A match for one player alone, who is told wherever they are.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  chooseClock,
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  expectAccessible,
  waitForMyTurn,
  startBotMatch,
  waitForStatus,
  expectTitle,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { TestHarness, Page } from './support.ts';

after(closeBrowser);

const lobby = (page: Page) => page.getByRole('link', { name: 'Plyhouse' }).click();

const challenges = (page: Page) => page.getByRole('region', { name: 'Challenges' });

/** Two who have played each other: the first is in the lobby, the second still at the match. */
async function acquainted(house: TestHarness, options?: Parameters<TestHarness['openPage']>[1]) {
  const ann = await house.openPage('/', options);
  const bob = await house.openPage(await inviteFriend(ann), options);
  await waitForMyTurn(ann);
  await bob.getByRole('button', { name: 'Resign …' }).click();
  await bob.getByRole('button', { name: 'Resign', exact: true }).click();
  await waitForStatus(ann, 'You win!');
  await lobby(ann);
  return [ann, bob] as const;
}

/** Challenges the one whom this page has played. */
const challenge = async (page: Page) => {
  await page.getByRole('button', { name: /^Challenge guest-/ }).click();
  await waitForStatus(page, /^Waiting for guest-\w+ to accept\.$/);
};

test(
  'who is challenged is told in another match, and plays',
  withServer(async (house) => {
    const [ann, bob] = await acquainted(house);
    await lobby(bob);
    await startBotMatch(bob, { game: 'Chess' });
    await waitForMyTurn(bob);
    await chooseClock(ann, '5+3');
    await challenge(ann);
    // There is no link for others: the seat is for one alone.
    await ann.getByText(/^Only guest-\w+ can take this seat/).waitFor();
    assert.equal(await ann.getByLabel('Link to this match').count(), 0);
    const told = challenges(bob);
    await told.getByText(/^guest-\w+ challenges you$/).waitFor();
    await told.getByText('Tic-tac-toe · 5+3 · you play O').waitFor();
    await expectTitle(bob, /^● guest-\w+ challenges you/);
    await takeScreenshot(bob, 'challenged');
    // Nobody else gets in.
    const eve = await house.openPage(new URL(ann.url()).pathname);
    await waitForStatus(eve, 'Waiting for a player.');
    await told.getByRole('button', { name: 'Play' }).click();
    await waitForMyTurn(ann);
    await bob.waitForURL(ann.url());
    await told.waitFor({ state: 'hidden' });
    await expectTitle(bob, /^(?!.*challenges you)/);
  }),
);

test(
  'who declines is told of no more, and who asked knows, wherever they are',
  withServer(async (house) => {
    const [ann, bob] = await acquainted(house);
    await challenge(ann);
    // What waits is told with the next connection, too.
    await challenges(bob).getByRole('button', { name: 'Decline' }).waitFor();
    await bob.reload();
    await challenges(bob).getByRole('button', { name: 'Decline' }).click();
    await challenges(bob).waitFor({ state: 'hidden' });
    await ann.getByText('The challenge was declined.', { exact: true }).waitFor();
    // Once more, while the one who asks is elsewhere.
    await lobby(ann);
    await challenge(ann);
    await lobby(ann);
    await ann.locator('.rows li', { hasText: 'asked' }).waitFor();
    await challenges(bob).getByRole('button', { name: 'Decline' }).click();
    await ann.locator('#toast', { hasText: 'The challenge was declined.' }).waitFor();
  }),
);

test(
  'a challenge that is called off is over',
  withServer(async (house) => {
    const [ann, bob] = await acquainted(house);
    await challenge(ann);
    // Whoever has asked is still known to have asked when the page is loaded anew.
    await ann.reload();
    await waitForStatus(ann, /^Waiting for guest-\w+ to accept\.$/);
    await challenges(bob).getByRole('button', { name: 'Decline' }).focus();
    await ann.getByRole('button', { name: 'Cancel' }).click();
    await bob.locator('#toast', { hasText: /^guest-\w+ waits for you no longer\.$/ }).waitFor();
    await challenges(bob).waitFor({ state: 'hidden' });
    await bob.locator('main:focus').waitFor();
  }),
);

test(
  'a challenge fits, and is open to all',
  withServer(async (house) => {
    for (const colorScheme of selectVariants(['light', 'dark'] as const, 'light')) {
      const viewport = { width: 320, height: 640 };
      const [ann, bob] = await acquainted(house, { viewport, colorScheme, axe: true });
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'lobby with somebody to challenge');
      await takeScreenshot(ann, `opponents-phone-${colorScheme}`);
      for (let count = 0; count < 3; count++) {
        await challenge(ann);
        await lobby(ann);
      }
      await challenges(bob).getByText('and 2 more').waitFor();
      await expectNoHorizontalOverflow(bob);
      await expectAccessible(bob, 'challenged');
      await takeScreenshot(bob, `challenged-phone-${colorScheme}`);
    }
  }),
);

/** Which of these a part of the page covers. */
const covered = (page: Page, part: string, others: string) =>
  page.evaluate(
    ([part = '', others = '']) => {
      const over = document.querySelector(part)?.getBoundingClientRect();
      const isOver = (other: Element) => {
        const { left, right, top, bottom } = other.getBoundingClientRect();
        const { x = 0, y = 0, width = 0, height = 0 } = over ?? {};
        return left < x + width && right > x && top < y + height && bottom > y;
      };
      const found = [...document.querySelectorAll(others)].filter(isOver);
      return found.map(({ className, id }) => className || id);
    },
    [part, others],
  );

/** What one uses while one plays. */
const USED = '.surface, .player, .standing, .lower, .bar, .history .row > *';

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    small: { width: 320, height: 568 },
    lying: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'small',
)) {
  test(
    `a challenge covers nothing of the match that one plays: ${size}`,
    withServer(async (house) => {
      const [ann, bob] = await acquainted(house, { viewport, reducedMotion: 'reduce' });
      await lobby(bob);
      await startBotMatch(bob, { game: 'Chess' });
      await waitForMyTurn(bob);
      await challenge(ann);
      await challenges(bob).getByRole('button', { name: 'Decline' }).waitFor();
      assert.deepEqual(await covered(bob, '#notices', USED), []);
      await barButton(bob, 'Hint: the best move').click();
      await bob.locator('#toast', { hasText: /^The best move is / }).waitFor();
      assert.deepEqual(await covered(bob, '#notices', '#toast'), []);
      await expectNoHorizontalOverflow(bob);
      await takeScreenshot(bob, `challenged-in-match-${size}`);
    }),
  );
}
