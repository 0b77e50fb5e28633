// Tests accessibility and preferences: axe, small screens, themes, touch, focus and sounds.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  chooseClock,
  codeFromLink,
  expectNoHorizontalOverflow,
  inviteFriend,
  expectAccessible,
  waitForMyTurn,
  createOpenMatch,
  playMove,
  startBotMatch,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const PHONE = { width: 320, height: 640 };
const DESKTOP = { width: 1280, height: 800 };

for (const theme of ['light', 'dark'] as const) {
  const sizes = Object.entries({ phone: PHONE, desktop: DESKTOP });
  for (const [size, viewport] of selectVariants(sizes, theme === 'light' ? 'phone' : 'desktop')) {
    test(
      `the lobby and matches fit the window and pass axe: ${size}, ${theme}`,
      withServer(async (harness) => {
        const options = {
          viewport,
          colorScheme: theme,
          reducedMotion: 'reduce' as const,
          axe: true,
        };
        const ann = await harness.openPage('/', options);
        const checkView = async (page: Page, state: string) => {
          await expectNoHorizontalOverflow(page);
          await expectAccessible(page, state);
          await takeScreenshot(page, `${state}-${size}-${theme}`);
        };
        await ann.getByRole('button', { name: /^Play the/ }).waitFor();
        await checkView(ann, 'lobby');
        await chooseClock(ann, 'Your own …');
        await ann.getByLabel('Minutes for each').fill('999');
        await ann.getByRole('button', { name: 'Invite a friend' }).click();
        await ann.getByText('0, or 1 second to 180 minutes, please.').waitFor();
        await checkView(ann, 'own-clock');
        await chooseClock(ann, '3 days a move');
        await checkView(ann, 'days');
        await chooseClock(ann, 'None');
        const link = await inviteFriend(ann, 'Connect Four');
        await checkView(ann, 'open');
        const bob = await harness.openPage(link, options);
        for (const square of ['d1', 'c1', 'e1', 'c1', 'f1', 'c1']) {
          await playMove(square === 'c1' ? bob : ann, square);
        }
        await waitForMyTurn(ann);
        await checkView(ann, 'connect-four');
        await ann.keyboard.press('7');
        await ann.locator('.ended').waitFor();
        await checkView(ann, 'won');
        await ann.getByRole('link', { name: 'To the lobby' }).click();
        await startBotMatch(ann, { game: 'Tic-tac-toe' });
        await playMove(ann, 'b2');
        await waitForMyTurn(ann);
        await checkView(ann, 'tic-tac-toe');
      }),
    );
  }
}

test(
  'a tap plays a move on a touch screen',
  withServer(async (harness) => {
    const page = await harness.openPage('/', {
      viewport: PHONE,
      hasTouch: true,
      isMobile: true,
    });
    await page.getByRole('radio', { name: 'Tic-tac-toe', exact: true }).check();
    await page.getByRole('button', { name: /^Play the/ }).tap();
    await waitForMyTurn(page);
    await page.getByText('Tap a square.').waitFor();
    await cell(page, 'b2').tap();
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
  }),
);

test(
  'the lobby remembers the last game, level and side',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await startBotMatch(page, {
      game: 'Connect Four',
      level: 'Hard',
      side: 'Yellow',
    });
    await page.getByRole('link', { name: 'Plyhouse' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Play the hard bot' }).waitFor();
    for (const name of ['Connect Four', 'Hard', 'Yellow, second']) {
      assert.ok(await page.getByRole('radio', { name }).isChecked(), name);
    }
  }),
);

test(
  'a button copies the link to a match',
  withServer(async (harness) => {
    const page = await harness.openPage('/', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const link = await inviteFriend(page);
    // The button confirms for two seconds only, so the wait begins before the click.
    const isConfirmed = () =>
      [...document.querySelectorAll('button')].some(({ textContent }) => textContent === 'Copied');
    await Promise.all([
      page.waitForFunction(isConfirmed),
      page.getByRole('button', { name: 'Copy the link' }).click(),
    ]);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link);
  }),
);

test(
  'sounds are off by default, and the choice is remembered',
  withServer(async (harness) => {
    const page = await harness.openPage();
    const button = page.getByRole('button', { name: 'Sounds' });
    assert.equal(await button.getAttribute('aria-pressed'), 'false');
    await button.click();
    await page.reload();
    assert.equal(await button.getAttribute('aria-pressed'), 'true');
  }),
);

test(
  'the chosen theme is applied and remembered',
  withServer(async (harness) => {
    const page = await harness.openPage('/', { colorScheme: 'light' });
    const readBackground = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await readBackground();
    const button = page.getByRole('button', { name: /^Light or dark/ });
    await button.click();
    await button.click();
    await page.getByRole('button', { name: 'Light or dark: dark' }).waitFor();
    const dark = await readBackground();
    assert.notEqual(dark, light);
    await page.reload();
    assert.equal(await readBackground(), dark);
  }),
);

/** Waits until an element with this text has the focus. */
const waitForFocus = (page: Page, text: string) =>
  page.locator(':focus', { hasText: text }).waitFor();

test(
  'the focus moves to the button that replaces a focused one',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await page.getByRole('button', { name: 'Find an opponent' }).focus();
    await page.keyboard.press('Enter');
    await waitForFocus(page, 'Stop looking');
    await page.keyboard.press('Enter');
    await waitForFocus(page, 'Find an opponent');
    await startBotMatch(page);
    await page.getByRole('button', { name: 'Resign …' }).focus();
    await page.keyboard.press('Enter');
    await waitForFocus(page, 'Play on');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await waitForFocus(page, 'Rematch');
  }),
);

test(
  'the focus stays on a match in the list while the list changes',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const first = codeFromLink(await createOpenMatch(ann));
    const eve = await harness.openPage();
    await eve.getByRole('button', { name: `Join: ${first}` }).focus();
    const bob = await harness.openPage();
    const second = codeFromLink(await createOpenMatch(bob));
    // The list begins with the newest match.
    const join = eve.getByRole('button', { name: /^Join: / });
    await eve.getByRole('button', { name: `Join: ${second}` }).waitFor();
    assert.equal(await join.first().getAttribute('aria-label'), `Join: ${second}`);
    assert.equal(
      await join.and(eve.locator(':focus')).getAttribute('aria-label'),
      `Join: ${first}`,
    );
    await ann.getByRole('button', { name: 'Add bot' }).click();
    const watch = eve.getByRole('button', { name: `Watch: ${first}` });
    await watch.focus();
    await bob.getByRole('button', { name: 'Add bot' }).click();
    await eve.getByRole('button', { name: `Watch: ${second}` }).waitFor();
    await watch.and(eve.locator(':focus')).waitFor();
    // When the focused match leaves the list, its group gets the focus.
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await waitForFocus(eve, 'Being played');
  }),
);

test(
  'the list of open matches counts those that it does not show',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await ann.getByRole('button', { name: /^Play the/ }).waitFor();
    // Each socket is another guest.
    await ann.evaluate(async () => {
      for (let count = 0; count < 15; count++) {
        const socket = new WebSocket(`ws://${location.host}/ws`);
        await new Promise((resolve) => (socket.onopen = resolve));
        socket.send(JSON.stringify({ type: 'create', game: 'tic-tac-toe' }));
        // A reference prevents garbage collection of the socket.
        Object.assign(globalThis, { [`socket${count}`]: socket });
      }
    });
    await ann.getByText('The newest; and 3 more.').waitFor();
    assert.equal(await ann.getByRole('button', { name: /^Join: / }).count(), 12);
  }),
);
