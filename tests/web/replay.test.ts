// The replay of ended matches, links to a move, and playing on from a position.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { LANGUAGES } from '../../client/web/page/text/language.ts';
import {
  cell,
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  expectAccessible,
  playMove,
  playMoves,
  startBotMatch,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { ContextOptions, TestHarness } from './support.ts';

after(closeBrowser);

/** Plays a match to its end. Returns the page of the winner and the path of the replay. */
async function createEndedMatch(
  harness: TestHarness,
  options: ContextOptions & { axe?: boolean } = {},
) {
  const ann = await harness.openPage('/', { permissions: ['clipboard-write'], ...options });
  const bob = await harness.openPage(await inviteFriend(ann, 'Connect Four'));
  await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
  await ann.getByRole('heading', { name: 'You win!' }).waitFor();
  await ann.goto('/games');
  await ann.getByRole('button', { name: /^Replay/ }).click();
  await waitForStatus(ann, 'You win!');
  return { ann, path: new URL(ann.url()).pathname };
}

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    landscape: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'landscape',
)) {
  test(
    `a link shows a move of an ended match, and keys step to other moves: ${size}`,
    withServer(async (harness) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const { ann, path } = await createEndedMatch(harness);
      await ann.close();
      const eve = await harness.openPage(`${path}#3`, options);
      await waitForStatus(eve, 'After 3 of 7 moves.');
      await cell(eve, 'd2').and(eve.getByLabel('red')).waitFor();
      await cell(eve, 'd3').and(eve.getByLabel('empty')).waitFor();
      await expectAccessible(eve, 'replay');
      await expectNoHorizontalOverflow(eve);
      await takeScreenshot(eve, `replay-${size}`);
      await eve.keyboard.press('ArrowLeft');
      await waitForStatus(eve, 'After 2 of 7 moves.');
      await eve.waitForURL(({ hash }) => hash === '#2');
      await eve.keyboard.press('Home');
      await waitForStatus(eve, 'After 0 of 7 moves.');
      await eve.waitForURL(({ hash }) => hash === '#0');
      await eve.keyboard.press('End');
      await waitForStatus(eve, /wins/);
      await eve.waitForURL(({ hash }) => hash === '');
      // A change of the fragment shows its move.
      await eve.evaluate(() => (location.hash = '#5'));
      await waitForStatus(eve, 'After 5 of 7 moves.');
      // A link to a move that does not exist shows the final position.
      await eve.goto('about:blank');
      await eve.goto(`${path}#99`);
      await waitForStatus(eve, /wins/);
    }),
  );
}

test(
  'the button Share copies a link to the shown move',
  withServer(async (harness) => {
    const { ann, path } = await createEndedMatch(harness);
    await ann.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', {
        value: {
          writeText: async (text: string) => void Object.assign(globalThis, { copied: text }),
        },
      });
    });
    const share = ann.getByRole('button', { name: 'Share' });
    const copyLink = async () => {
      await ann.evaluate(() => void Object.assign(globalThis, { copied: '' }));
      await share.click();
      await eventually(async () => assert.ok(await ann.evaluate('copied')));
      await ann.getByText('The link to this match is copied.').waitFor();
      return ann.evaluate('copied');
    };
    assert.equal(await copyLink(), new URL(path, ann.url()).href);
    await ann.keyboard.press('ArrowLeft');
    await waitForStatus(ann, 'After 6 of 7 moves.');
    assert.equal(await copyLink(), new URL(`${path}#6`, ann.url()).href);
  }),
);

test(
  'a link to a move of a running match shows the current position',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const link = await inviteFriend(ann, 'Connect Four');
    const bob = await harness.openPage(`${link}#1`);
    await waitForStatus(ann, 'Your turn.');
    assert.equal(await ann.getByRole('button', { name: 'Share' }).count(), 0);
    await playMoves(ann, bob, 'd1 c1');
    await waitForStatus(ann, 'Your turn.');
    await bob.reload();
    await waitForStatus(bob, /to move/);
  }),
);

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `a user can play on against a bot from a position of an ended match: ${size}`,
    withServer(async (harness) => {
      const { ann, path } = await createEndedMatch(harness, { viewport, axe: true });
      const playOn = ann.getByRole('button', { name: 'Play on from here' });
      // The final position of a won game has no such button.
      assert.equal(await playOn.isVisible(), false);
      await ann.goto(`${path}#3`);
      await waitForStatus(ann, 'After 3 of 7 moves.');
      await expectAccessible(ann, 'play-on');
      await expectNoHorizontalOverflow(ann);
      await takeScreenshot(ann, `play-on-${size}`);
      await playOn.click();
      // The user has the second side, which is to move. The first three discs are on the board.
      await waitForStatus(ann, 'Your turn.');
      await cell(ann, 'd2').and(ann.getByLabel('red')).waitFor();
      await cell(ann, 'd3').and(ann.getByLabel('empty')).waitFor();
      await ann.getByText('hard bot').first().waitFor();
      await playMove(ann, 'd3');
      await cell(ann, 'd3').and(ann.getByLabel('yellow')).waitFor();
      // The bot moves, too.
      await ann.locator('.moves button').nth(1).waitFor();
      await waitForStatus(ann, 'Your turn.');
    }),
  );
}

test(
  'the buttons of an earlier position fit a phone in every language',
  withServer(async (harness) => {
    const { ann, path } = await createEndedMatch(harness, {
      viewport: { width: 390, height: 844 },
    });
    await ann.goto(`${path}#3`);
    await waitForStatus(ann, 'After 3 of 7 moves.');
    const languages = ann.locator('header select');
    for (const [code, language] of selectVariants(Object.entries(LANGUAGES), 'de', 'fr')) {
      await ann.setViewportSize({ width: 1200, height: 844 });
      await languages.selectOption(language);
      await ann.locator(`html[data-language=${code}] .onward`).waitFor();
      await ann.setViewportSize({ width: 390, height: 844 });
      await ann.locator('.asked > .onward').waitFor();
      await expectNoHorizontalOverflow(ann);
      const box = await ann.locator('.asked > .onward').boundingBox();
      assert.ok(box && box.x + box.width <= 390 && box.width > 40, language);
      await takeScreenshot(ann, `look-back-${code}`);
    }
  }),
);

test(
  'after a resignation, the user can play on from the final position against the same bot',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await startBotMatch(ann, { game: 'Tic-tac-toe', level: 'Easy', side: 'first' });
    await playMove(ann, 'b2');
    await waitForStatus(ann, 'Your turn.');
    const before = ann.url();
    await barButton(ann, 'Resign …').click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await ann.getByRole('button', { name: 'Show the board' }).click();
    await ann.getByRole('button', { name: 'Play on from here' }).click();
    await ann.waitForURL((url) => url.href !== before && url.pathname.startsWith('/m/'));
    await waitForStatus(ann, 'Your turn.');
    await cell(ann, 'b2').and(ann.getByLabel('x')).waitFor();
    await ann.getByText('easy bot').first().waitFor();
  }),
);
