// The page without the server: it loads, plays small games against bots, and shows past games.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  expectNoHorizontalOverflow,
  barButton,
  expectAccessible,
  isMatchOver,
  legalSquares,
  countMoves,
  waitForMyTurn,
  playMove,
  startBotMatch,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { TestHarness, Page } from './support.ts';

after(closeBrowser);

/** Allows the service worker, which caches the page. */
const CACHED = { serviceWorkers: 'allow' as const };

const waitForServiceWorker = (page: Page) =>
  page.evaluate(async () => void (await navigator.serviceWorker.ready));

/** Kills the server, reloads the page and starts offline play. */
async function goOffline(harness: TestHarness, page: Page, path = '/') {
  harness.expectsFailures = true;
  await waitForServiceWorker(page);
  await harness.server.kill();
  await page.goto(path);
  await page.getByRole('button', { name: 'Play without it' }).click();
  await page.getByText('You play without the server').waitFor();
}

test(
  'the button for offline play keeps its focus while the page tries to connect',
  withServer(async (harness) => {
    const page = await harness.openPage('/', CACHED);
    harness.expectsFailures = true;
    await waitForServiceWorker(page);
    await harness.server.kill();
    await page.goto('/');
    const button = page.getByRole('button', { name: 'Play without it' });
    await button.focus();
    for (let attempt = 0; attempt < 3; attempt++) await page.waitForEvent('websocket');
    await button.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('You play without the server').waitFor();
  }),
);

const listedMoves = (page: Page) => page.locator('.moves button').allTextContents();

/** Starts an offline match and returns its page and its moves. */
async function startOfflineMatch(harness: TestHarness) {
  const page = await harness.openPage('/', CACHED);
  await goOffline(harness, page);
  await startBotMatch(page);
  await playMove(page, 'b2');
  await waitForMyTurn(page);
  return { page, before: await listedMoves(page) };
}

/** Plays legal moves until the match is over. */
async function playOut(page: Page) {
  while (!(await isMatchOver(page))) {
    const [square = ''] = await legalSquares(page);
    // This does not wait for the bot's turn, because the bot may have moved already.
    await playMove(page, square);
  }
}

for (const game of selectVariants(['Tic-tac-toe', 'Connect Four'], 'Connect Four')) {
  test(
    `a match and a rematch of ${game} can be played offline`,
    withServer(async (harness) => {
      const page = await harness.openPage('/', CACHED);
      await goOffline(harness, page);
      await startBotMatch(page, { game, level: 'Easy' });
      await waitForMyTurn(page);
      await playOut(page);
      await barButton(page, 'Rematch').click();
      await page.locator('.room:not(.ended)').waitFor();
      await playOut(page);
      await takeScreenshot(page, `alone-${game}`);
      // The list of ended games has both matches.
      await page.goto('/games');
      await page.getByRole('button', { name: 'Play without it' }).click();
      await page.locator('.over li').nth(1).waitFor();
      assert.equal(await page.locator('.over li').count(), 2);
    }),
  );
}

test(
  'offline, the strongest bot does not lose, and moves can be taken back',
  withServer(async (harness) => {
    const page = await harness.openPage('/', CACHED);
    await goOffline(harness, page);
    await startBotMatch(page, { level: 'Full strength' });
    await playMove(page, 'a1');
    await waitForMyTurn(page);
    await barButton(page, 'Take back').click();
    await waitForStatus(page, 'Your turn.');
    await page.waitForFunction(() => document.querySelectorAll('.moves button').length === 0);
    await playMove(page, 'a2');
    await waitForMyTurn(page);
    assert.equal(await countMoves(page), 2);
    await playOut(page);
    await waitForStatus(page, /You lose|draw/i);
  }),
);

test(
  'offline, past games can be replayed, and other matches need the server',
  withServer(async (harness) => {
    const page = await harness.openPage('/', CACHED);
    await startBotMatch(page);
    await playOut(page);
    const count = await countMoves(page);
    const { pathname } = new URL(page.url());
    await goOffline(harness, page, pathname);
    await page.locator('.room.ended').waitFor();
    assert.equal(await countMoves(page), count);
    await page.keyboard.press('Home');
    await page.waitForFunction(() => !document.querySelector('[role=gridcell] .piece'));
    await page.goto('/m/K7QM2P');
    await page.getByRole('button', { name: 'Play without it' }).click();
    await page.getByText('This needs the server.').waitFor();
  }),
);

test(
  'offline, the page offers nothing that needs the server',
  withServer(async (harness) => {
    const page = await harness.openPage('/', { ...CACHED, axe: true });
    await goOffline(harness, page);
    await page.getByRole('button', { name: /^Play the/ }).waitFor();
    await takeScreenshot(page, 'alone-lobby');
    for (const name of ['Invite a friend', 'Find an opponent', 'Create an open match', 'Show'])
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
    assert.equal(await page.getByRole('combobox', { name: 'Clock' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Set up' }).count(), 0);
    await expectAccessible(page, 'the lobby without a server');
    // Rematches against the weakest bot lead to a win.
    await startBotMatch(page);
    await playOut(page);
    while ((await page.getByRole('heading', { name: 'You win' }).count()) === 0) {
      await barButton(page, 'Rematch').click();
      await page.locator('.room:not(.ended)').waitFor();
      await playOut(page);
    }
    await page.locator('.result:visible').waitFor();
    assert.equal(await page.getByText('in this browser alone').isVisible(), false);
    assert.equal(await page.getByRole('button', { name: 'Share' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Play on from here' }).count(), 0);
    await expectAccessible(page, 'the end of a game without a server');
  }),
);

test(
  'an offline match continues after a reload',
  withServer(async (harness) => {
    const page = await harness.openPage('/', CACHED);
    await goOffline(harness, page);
    await startBotMatch(page, { game: 'Connect Four' });
    await playMove(page, 'd1');
    await waitForMyTurn(page);
    const before = await listedMoves(page);
    await page.reload();
    await waitForMyTurn(page);
    assert.deepEqual(await listedMoves(page), before);
    await takeScreenshot(page, 'alone-going-on');
    await playOut(page);
    // A reload still shows the ended match, although it is no longer stored as a running one.
    await page.reload();
    await page.locator('.room.ended').waitFor();
    assert.equal(await page.evaluate(() => localStorage.getItem('plyhouse.alone')), null);
  }),
);

test(
  'the page says when the server is available again, and the offline match can be continued',
  withServer(async (harness) => {
    const { page, before } = await startOfflineMatch(harness);
    await harness.server.start();
    // The page probes for the server at growing intervals, up to about a minute.
    await page.getByText('The server is there again.').waitFor({ timeout: 90_000 });
    await takeScreenshot(page, 'alone-server-again');
    await page.getByRole('button', { name: 'Play with it' }).click();
    await page.getByRole('radio', { name: 'Chess', exact: true }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/');
    const row = page.locator('.own li', { hasText: 'without the server' });
    await row.getByRole('button', { name: 'Go on' }).click();
    await waitForMyTurn(page);
    assert.deepEqual(await listedMoves(page), before);
    await playOut(page);
    await page.getByRole('button', { name: 'Play with it' }).click();
    await page.getByRole('radio', { name: 'Chess', exact: true }).waitFor();
    assert.equal(await row.count(), 0);
  }),
);

test(
  'an offline match is active in one tab, and another tab can take it over',
  withServer(async (harness) => {
    const { page, before } = await startOfflineMatch(harness);
    const secondTab = await page.context().newPage();
    await secondTab.goto(page.url());
    await waitForMyTurn(secondTab);
    await page.getByText('You are playing in another tab').waitFor();
    assert.deepEqual(await listedMoves(secondTab), before);
    const [square = ''] = await legalSquares(secondTab);
    await playMove(secondTab, square);
    await waitForMyTurn(secondTab);
    const after = await listedMoves(secondTab);
    await page.getByRole('button', { name: 'Take it back here' }).click();
    await waitForMyTurn(page);
    assert.deepEqual(await listedMoves(page), after);
    await secondTab.getByText('You are playing in another tab').waitFor();
  }),
);

test(
  'a failed search for the server does not interrupt an offline match',
  withServer(async (harness) => {
    const page = await harness.openPage('/', CACHED);
    await goOffline(harness, page);
    await startBotMatch(page);
    await playMove(page, 'b2');
    // Waits for the bot's move, which would remove the message.
    await waitForMyTurn(page);
    await page.getByRole('button', { name: 'Look for the server' }).click();
    await page.getByText('The server is not there yet.').waitFor();
    await waitForMyTurn(page);
    assert.equal(await countMoves(page), 2);
  }),
);

test(
  'invalid stored games are ignored',
  withServer(async (harness) => {
    const { page, before } = await startOfflineMatch(harness);
    await page.evaluate(() => {
      const [game] = JSON.parse(localStorage.getItem('plyhouse.alone') ?? '[]');
      const invalid = [
        ...[null, 7, 'x', {}, { ...game, id: '../x' }, { ...game, id: 'alone-1', moves: 'b2' }],
        // The types are valid, but the games are not.
        { ...game, id: 'alone-2', moves: ['b2', 'b2'] },
        { ...game, id: 'alone-3', game: 'chess' },
        { ...game, id: 'alone-4', seats: ['me', { bot: 'x' }] },
      ];
      localStorage.setItem('plyhouse.alone', JSON.stringify([...invalid, game]));
      localStorage.setItem('plyhouse.past', JSON.stringify([null, {}, { snapshot: {} }]));
    });
    await page.reload();
    await waitForMyTurn(page);
    assert.deepEqual(await listedMoves(page), before);
    await page.getByRole('link', { name: 'Plyhouse' }).click();
    await page.locator('.own li').first().waitFor();
    assert.equal(await page.locator('.own li').count(), 1);
    for (const [name, text] of [
      ['alone', '{"alone":1}'],
      ['alone', '['],
      ['past', '{}'],
    ]) {
      await page.evaluate(
        ([name, text]) => localStorage.setItem(`plyhouse.${name}`, `${text}`),
        [name, text],
      );
      await page.reload();
      await page.getByRole('button', { name: 'Play without it' }).click();
      await page.getByRole('button', { name: /^Play the/ }).waitFor();
    }
  }),
);

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    landscape: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `the offline banner has at most two lines: ${size}`,
    withServer(async (harness) => {
      const page = await harness.openPage('/', { ...CACHED, viewport });
      await goOffline(harness, page);
      await takeScreenshot(page, `alone-lobby-${size}`);
      await expectNoHorizontalOverflow(page);
      await startBotMatch(page);
      await waitForMyTurn(page);
      await takeScreenshot(page, `alone-room-${size}`);
      const lines = () =>
        page.locator('.banner p').evaluate((text) => {
          const { lineHeight } = getComputedStyle(text);
          return Math.round(text.getBoundingClientRect().height / Number.parseFloat(lineHeight));
        });
      assert.ok((await lines()) <= 2, `${await lines()} lines`);
      await expectNoHorizontalOverflow(page);
    }),
  );
}

test(
  'a player keeps their identity after offline play',
  withServer(async (harness) => {
    const page = await harness.openPage('/', CACHED);
    await startBotMatch(page);
    const token = await page.evaluate(() => localStorage.getItem('plyhouse.token'));
    await goOffline(harness, page);
    await harness.server.start();
    // The button has a different name if the page has already found the server.
    await page.getByRole('button', { name: /^(Look for the server|Play with it)$/ }).click();
    await page.getByRole('radio', { name: 'Chess', exact: true }).waitFor();
    assert.equal(await page.evaluate(() => localStorage.getItem('plyhouse.token')), token);
    assert.equal(await page.getByText('You play without the server').count(), 0);
  }),
);

test(
  'a new player in the same browser does not get the games of the previous player',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await startBotMatch(page);
    await playOut(page);
    const storedGames = () => page.evaluate(() => localStorage.getItem('plyhouse.past'));
    assert.ok((await storedGames())?.includes('tic-tac-toe'));
    await page.evaluate(() => localStorage.removeItem('plyhouse.token'));
    await page.evaluate(() => localStorage.removeItem('plyhouse.name'));
    await page.goto('/');
    await page.getByRole('button', { name: /^Play the/ }).waitFor();
    assert.equal(await storedGames(), null);
  }),
);
