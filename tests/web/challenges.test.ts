// Tests challenges: matches that only one chosen player can join.

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

const openLobby = (page: Page) => page.getByRole('link', { name: 'Plyhouse' }).click();

const challenges = (page: Page) => page.getByRole('region', { name: 'Challenges' });

/**
 * Opens two pages that have played each other. The first is in the lobby, the second still at the
 * match.
 */
async function openOpponents(
  harness: TestHarness,
  options?: Parameters<TestHarness['openPage']>[1],
) {
  const ann = await harness.openPage('/', options);
  const bob = await harness.openPage(await inviteFriend(ann), options);
  await waitForMyTurn(ann);
  await bob.getByRole('button', { name: 'Resign …' }).click();
  await bob.getByRole('button', { name: 'Resign', exact: true }).click();
  await waitForStatus(ann, 'You win!');
  await openLobby(ann);
  return [ann, bob] as const;
}

/** Challenges the last opponent. */
const challenge = async (page: Page) => {
  await page.getByRole('button', { name: /^Challenge guest-/ }).click();
  await waitForStatus(page, /^Waiting for guest-\w+ to accept\.$/);
};

test(
  'a challenge is shown in another match and accepted there',
  withServer(async (harness) => {
    const [ann, bob] = await openOpponents(harness);
    await openLobby(bob);
    await startBotMatch(bob, { game: 'Chess' });
    await waitForMyTurn(bob);
    await chooseClock(ann, '5+3');
    await challenge(ann);
    // No link is shown, because nobody else can take the seat.
    await ann.getByText(/^Only guest-\w+ can take this seat/).waitFor();
    assert.equal(await ann.getByLabel('Link to this match').count(), 0);
    const notices = challenges(bob);
    await notices.getByText(/^guest-\w+ challenges you$/).waitFor();
    await notices.getByText('Tic-tac-toe · 5+3 · you play O').waitFor();
    await expectTitle(bob, /^● guest-\w+ challenges you/);
    await takeScreenshot(bob, 'challenged');
    // Other players become spectators.
    const eve = await harness.openPage(new URL(ann.url()).pathname);
    await waitForStatus(eve, 'Waiting for a player.');
    await notices.getByRole('button', { name: 'Play' }).click();
    await waitForMyTurn(ann);
    await bob.waitForURL(ann.url());
    await notices.waitFor({ state: 'hidden' });
    await expectTitle(bob, /^(?!.*challenges you)/);
  }),
);

test(
  'a declined challenge disappears, and the challenger is informed in the match and in the lobby',
  withServer(async (harness) => {
    const [ann, bob] = await openOpponents(harness);
    await challenge(ann);
    // The server sends a pending challenge again after a reconnection.
    await challenges(bob).getByRole('button', { name: 'Decline' }).waitFor();
    await bob.reload();
    await challenges(bob).getByRole('button', { name: 'Decline' }).click();
    await challenges(bob).waitFor({ state: 'hidden' });
    await ann.getByText('The challenge was declined.', { exact: true }).waitFor();
    // The next challenge is declined while the challenger is in the lobby.
    await openLobby(ann);
    await challenge(ann);
    await openLobby(ann);
    await ann.locator('.rows li', { hasText: 'asked' }).waitFor();
    await challenges(bob).getByRole('button', { name: 'Decline' }).click();
    await ann.locator('#toast', { hasText: 'The challenge was declined.' }).waitFor();
  }),
);

test(
  'a cancelled challenge disappears',
  withServer(async (harness) => {
    const [ann, bob] = await openOpponents(harness);
    await challenge(ann);
    // The challenger's page shows the pending challenge after a reload.
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
  'challenges fit a small phone and pass axe',
  withServer(async (harness) => {
    for (const colorScheme of selectVariants(['light', 'dark'] as const, 'light')) {
      const viewport = { width: 320, height: 640 };
      const [ann, bob] = await openOpponents(harness, { viewport, colorScheme, axe: true });
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'lobby with an opponent to challenge');
      await takeScreenshot(ann, `opponents-phone-${colorScheme}`);
      for (let count = 0; count < 3; count++) {
        await challenge(ann);
        await openLobby(ann);
      }
      await challenges(bob).getByText('and 2 more').waitFor();
      await expectNoHorizontalOverflow(bob);
      await expectAccessible(bob, 'challenged');
      await takeScreenshot(bob, `challenged-phone-${colorScheme}`);
    }
  }),
);

/** Finds the elements of the selector `others` that the element `part` covers. */
const findCovered = (page: Page, part: string, others: string) =>
  page.evaluate(
    ([part = '', others = '']) => {
      const cover = document.querySelector(part)?.getBoundingClientRect();
      const isCovered = (other: Element) => {
        const { left, right, top, bottom } = other.getBoundingClientRect();
        const { x = 0, y = 0, width = 0, height = 0 } = cover ?? {};
        return left < x + width && right > x && top < y + height && bottom > y;
      };
      const covered = [...document.querySelectorAll(others)].filter(isCovered);
      return covered.map(({ className, id }) => className || id);
    },
    [part, others],
  );

/** Parts of the page that players use during a match. */
const MATCH_CONTROLS = '.surface, .player, .standing, .lower, .bar, .history .row > *';

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
    `a challenge does not cover the controls of a running match: ${size}`,
    withServer(async (harness) => {
      const [ann, bob] = await openOpponents(harness, { viewport, reducedMotion: 'reduce' });
      await openLobby(bob);
      await startBotMatch(bob, { game: 'Chess' });
      await waitForMyTurn(bob);
      await challenge(ann);
      await challenges(bob).getByRole('button', { name: 'Decline' }).waitFor();
      assert.deepEqual(await findCovered(bob, '#notices', MATCH_CONTROLS), []);
      await barButton(bob, 'Hint: the best move').click();
      await bob.locator('#toast', { hasText: /^The best move is / }).waitFor();
      assert.deepEqual(await findCovered(bob, '#notices', '#toast'), []);
      await expectNoHorizontalOverflow(bob);
      await takeScreenshot(bob, `challenged-in-match-${size}`);
    }),
  );
}
