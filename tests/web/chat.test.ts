// Tests the chat of a match: preset messages, muting, spectators and free text.

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

import type { ContextOptions, TestHarness, Page } from './support.ts';

after(closeBrowser);

const SIZES = Object.entries({
  phone: { width: 390, height: 844 },
  lying: { width: 844, height: 390 },
  desktop: { width: 1280, height: 800 },
});
const PAGE_OPTIONS = { reducedMotion: 'reduce' as const, axe: true };

const chatButton = (page: Page) => page.getByRole('button', { name: /^Words/ });
const chatPanel = (page: Page) => page.getByRole('region', { name: 'Words' });

async function sendPreset(page: Page, preset: string) {
  await chatButton(page).click();
  await chatPanel(page).getByRole('button', { name: preset, exact: true }).click();
}

async function startMatch(harness: TestHarness, options: ContextOptions = {}) {
  const ann = await harness.openPage('/', { ...PAGE_OPTIONS, ...options });
  const link = await inviteFriend(ann);
  const bob = await harness.openPage(link, { ...PAGE_OPTIONS, ...options });
  await waitForStatus(ann, 'Your turn.');
  return { ann, bob, link };
}

for (const [size, viewport] of selectVariants(SIZES, 'phone')) {
  test(
    `chat messages appear beside the board and in the chat panel: ${size}`,
    withServer(async (harness) => {
      const { ann, bob } = await startMatch(harness, { viewport });
      const board = await ann.getByRole('grid').boundingBox();
      await sendPreset(ann, 'Good luck');
      await chatPanel(ann).waitFor({ state: 'hidden' });
      const bubble = bob.locator('.player .says', { hasText: 'Good luck' });
      await bubble.waitFor();
      await chatButton(bob).and(bob.getByLabel('Words: 1 is new')).waitFor();
      await bob
        .getByRole('log', { name: 'Moves' })
        .getByText(/: Good luck$/)
        .waitFor();
      await takeScreenshot(bob, `said-${size}`);
      await chatButton(bob).click();
      await chatPanel(bob).getByRole('listitem').filter({ hasText: 'Good luck' }).waitFor();
      await bob.getByRole('button', { name: 'Words', exact: true }).waitFor();
      await expectAccessible(bob, 'talk');
      await expectNoHorizontalOverflow(bob);
      await takeScreenshot(bob, `talk-${size}`);
      // The board keeps its place.
      assert.deepEqual(await ann.getByRole('grid').boundingBox(), board);
      // Sending the same message again too soon shows an error in the panel.
      await sendPreset(ann, 'Good luck');
      await chatPanel(ann).getByRole('alert').waitFor();
      await ann.keyboard.press('Escape');
      await chatPanel(ann).waitFor({ state: 'hidden' });
      assert.ok(await chatButton(ann).evaluate((button) => button === document.activeElement));
    }),
  );
}

test(
  'messages of a muted player are hidden until the player is unmuted',
  withServer(async (harness) => {
    const { ann, bob } = await startMatch(harness);
    await sendPreset(ann, 'Hello');
    await chatPanel(ann).waitFor({ state: 'hidden' });
    await bob.locator('.player .says', { hasText: 'Hello' }).waitFor();
    await chatButton(bob).click();
    await chatPanel(bob)
      .getByRole('button', { name: /^Mute guest-/ })
      .click();
    await chatPanel(bob).getByRole('listitem').waitFor({ state: 'hidden' });
    await bob.keyboard.press('Escape');
    await sendPreset(ann, 'Have fun');
    // The move arrives after the message.
    await playMove(ann, 'a1');
    await waitForStatus(bob, 'Your turn.');
    assert.equal(await bob.locator('.says, #heard').getByText('Have fun').count(), 0);
    assert.equal(await chatButton(bob).getAttribute('aria-label'), 'Words');
    // The player stays muted after a reload.
    await bob.reload();
    await waitForStatus(bob, 'Your turn.');
    await chatButton(bob).click();
    assert.equal(await chatPanel(bob).getByRole('listitem').count(), 0);
    await chatPanel(bob)
      .getByRole('button', { name: /^Hear guest-\w+ again$/ })
      .click();
    await chatPanel(bob).getByRole('listitem').filter({ hasText: 'Have fun' }).waitFor();
  }),
);

test(
  'spectators can chat when the match is over',
  withServer(async (harness) => {
    const { ann, bob, link } = await startMatch(harness);
    const eve = await harness.openPage(link);
    await waitForStatus(eve, /is to move/);
    await sendPreset(ann, 'Hello');
    await eve.locator('.player .says', { hasText: 'Hello' }).waitFor();
    await chatButton(eve).click();
    await chatPanel(eve)
      .getByText('Whoever watches can say something when the match is over.')
      .waitFor();
    assert.equal(await chatPanel(eve).getByRole('button', { name: 'Hello' }).count(), 0);
    await playMove(ann, 'a1');
    await barButton(bob, 'Resign …').click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await chatPanel(eve).getByRole('button', { name: 'Well played' }).click();
    await chatButton(ann).and(ann.getByLabel('Words: 1 is new')).waitFor();
    await chatButton(ann).click();
    await chatPanel(ann).getByRole('listitem').filter({ hasText: 'Well played' }).waitFor();
  }),
);

test(
  'free text is shown without interpreting markup',
  withServer(
    async (harness) => {
      const { ann, bob } = await startMatch(harness);
      await chatButton(ann).click();
      const text = '<img src=x onerror=alert(1)> & <b>you</b>?';
      await chatPanel(ann).getByLabel('Your words').fill(text);
      await ann.keyboard.press('Enter');
      await chatPanel(ann).getByText(text, { exact: true }).waitFor();
      await bob.locator('.player .says', { hasText: text }).waitFor();
      assert.equal(await bob.locator('main img, main b').count(), 0);
      await eventually(async () =>
        assert.equal(await chatPanel(ann).getByLabel('Your words').inputValue(), ''),
      );
      await chatPanel(ann).getByLabel('Your words').fill('x'.repeat(141));
      await ann.keyboard.press('Enter');
      await chatPanel(ann).getByText('At most 140 characters, please.').waitFor();
      // Arrow keys move in the text, not through the match.
      await ann.keyboard.press('ArrowLeft');
      await waitForStatus(ann, 'Your turn.');
    },
    ['--chat', 'text'],
  ),
);

test(
  'there is no chat if the server disables it, or against a bot',
  withServer(
    async (harness) => {
      const { ann } = await startMatch(harness);
      await chatButton(ann).click();
      await chatPanel(ann).getByText('On this server nothing is said.').waitFor();
      assert.equal(await chatPanel(ann).getByRole('button', { name: 'Hello' }).count(), 0);
      const dan = await harness.openPage();
      await startBotMatch(dan);
      assert.equal(await chatButton(dan).count(), 0);
    },
    ['--chat', 'off'],
  ),
);
