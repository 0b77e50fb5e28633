// What people say to each other beside the board.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  expectAccessible,
  playMove,
  startBotMatch,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { TestHarness, Page } from './support.ts';

after(closeBrowser);

const SIZES = Object.entries({
  phone: { width: 390, height: 844 },
  lying: { width: 844, height: 390 },
  desktop: { width: 1280, height: 800 },
});
const CALM = { reducedMotion: 'reduce' as const, axe: true };

const opener = (page: Page) => page.getByRole('button', { name: /^Words/ });
const panel = (page: Page) => page.getByRole('region', { name: 'Words' });

async function say(page: Page, preset: string) {
  await opener(page).click();
  await panel(page).getByRole('button', { name: preset, exact: true }).click();
}

/** Two who play. */
async function two(house: TestHarness, options: import('./support.ts').ContextOptions = {}) {
  const ann = await house.openPage('/', { ...CALM, ...options });
  const link = await inviteFriend(ann);
  const bob = await house.openPage(link, { ...CALM, ...options });
  await waitForStatus(ann, 'Your turn.');
  return { ann, bob, link };
}

for (const [size, viewport] of selectVariants(SIZES, 'phone')) {
  test(
    `what is said is seen beside the board, and in a list: ${size}`,
    withServer(async (house) => {
      const { ann, bob } = await two(house, { viewport });
      const board = await ann.getByRole('grid').boundingBox();
      await say(ann, 'Good luck');
      await panel(ann).waitFor({ state: 'hidden' });
      const bubble = bob.locator('.player .says', { hasText: 'Good luck' });
      await bubble.waitFor();
      await opener(bob).and(bob.getByLabel('Words: 1 is new')).waitFor();
      await bob
        .getByRole('log', { name: 'Moves' })
        .getByText(/: Good luck$/)
        .waitFor();
      await takeScreenshot(bob, `said-${size}`);
      await opener(bob).click();
      await panel(bob).getByRole('listitem').filter({ hasText: 'Good luck' }).waitFor();
      await bob.getByRole('button', { name: 'Words', exact: true }).waitFor();
      await expectAccessible(bob, 'talk');
      await expectNoHorizontalOverflow(bob);
      await takeScreenshot(bob, `talk-${size}`);
      // Nothing has moved the board.
      assert.deepEqual(await ann.getByRole('grid').boundingBox(), board);
      // To repeat oneself is too soon, and that is told there.
      await say(ann, 'Good luck');
      await panel(ann).getByRole('alert').waitFor();
      await ann.keyboard.press('Escape');
      await panel(ann).waitFor({ state: 'hidden' });
      assert.ok(await opener(ann).evaluate((button) => button === document.activeElement));
    }),
  );
}

test(
  'whoever is muted is not heard, until they are heard again',
  withServer(async (house) => {
    const { ann, bob } = await two(house);
    await say(ann, 'Hello');
    await panel(ann).waitFor({ state: 'hidden' });
    await bob.locator('.player .says', { hasText: 'Hello' }).waitFor();
    await opener(bob).click();
    await panel(bob)
      .getByRole('button', { name: /^Mute guest-/ })
      .click();
    await panel(bob).getByRole('listitem').waitFor({ state: 'hidden' });
    await bob.keyboard.press('Escape');
    await say(ann, 'Have fun');
    // What is played after it has come after it.
    await playMove(ann, 'a1');
    await waitForStatus(bob, 'Your turn.');
    assert.equal(await bob.locator('.says, #heard').getByText('Have fun').count(), 0);
    assert.equal(await opener(bob).getAttribute('aria-label'), 'Words');
    // It holds when the page is loaded anew.
    await bob.reload();
    await waitForStatus(bob, 'Your turn.');
    await opener(bob).click();
    assert.equal(await panel(bob).getByRole('listitem').count(), 0);
    await panel(bob)
      .getByRole('button', { name: /^Hear guest-\w+ again$/ })
      .click();
    await panel(bob).getByRole('listitem').filter({ hasText: 'Have fun' }).waitFor();
  }),
);

test(
  'whoever watches speaks when the match is over',
  withServer(async (house) => {
    const { ann, bob, link } = await two(house);
    const eve = await house.openPage(link);
    await waitForStatus(eve, /is to move/);
    await say(ann, 'Hello');
    await eve.locator('.player .says', { hasText: 'Hello' }).waitFor();
    await opener(eve).click();
    await panel(eve)
      .getByText('Whoever watches can say something when the match is over.')
      .waitFor();
    assert.equal(await panel(eve).getByRole('button', { name: 'Hello' }).count(), 0);
    await playMove(ann, 'a1');
    await barButton(bob, 'Resign …').click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await panel(eve).getByRole('button', { name: 'Well played' }).click();
    await opener(ann).and(ann.getByLabel('Words: 1 is new')).waitFor();
    await opener(ann).click();
    await panel(ann).getByRole('listitem').filter({ hasText: 'Well played' }).waitFor();
  }),
);

test(
  'where texts may be said they are, as texts',
  withServer(
    async (house) => {
      const { ann, bob } = await two(house);
      await opener(ann).click();
      const text = '<img src=x onerror=alert(1)> & <b>you</b>?';
      await panel(ann).getByLabel('Your words').fill(text);
      await ann.keyboard.press('Enter');
      await panel(ann).getByText(text, { exact: true }).waitFor();
      await bob.locator('.player .says', { hasText: text }).waitFor();
      assert.equal(await bob.locator('main img, main b').count(), 0);
      await eventually(async () =>
        assert.equal(await panel(ann).getByLabel('Your words').inputValue(), ''),
      );
      await panel(ann).getByLabel('Your words').fill('x'.repeat(141));
      await ann.keyboard.press('Enter');
      await panel(ann).getByText('At most 140 characters, please.').waitFor();
      // Arrows move in the text, not in the match.
      await ann.keyboard.press('ArrowLeft');
      await waitForStatus(ann, 'Your turn.');
    },
    ['--chat', 'text'],
  ),
);

test(
  'where nothing may be said, and to a bot, there is nothing to say',
  withServer(
    async (house) => {
      const { ann } = await two(house);
      await opener(ann).click();
      await panel(ann).getByText('On this server nothing is said.').waitFor();
      assert.equal(await panel(ann).getByRole('button', { name: 'Hello' }).count(), 0);
      const dan = await house.openPage();
      await startBotMatch(dan);
      assert.equal(await opener(dan).count(), 0);
    },
    ['--chat', 'off'],
  ),
);
