// The page without a server: it opens, small games are played against bots, and one's past is there.

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

/** With the service worker, which stores the page. */
const KEPT = { serviceWorkers: 'allow' as const };

/** Waits until the browser has kept the page. */
const isKept = (page: Page) =>
  page.evaluate(async () => void (await navigator.serviceWorker.ready));

/** The server is gone, and the page opened anew. */
async function withoutServer(house: TestHarness, page: Page, path: string = '/') {
  house.expectsFailures = true;
  await isKept(page);
  await house.server.kill();
  await page.goto(path);
  await page.getByRole('button', { name: 'Play without it' }).click();
  await page.getByText('You play without the server').waitFor();
}

test(
  'the way to play without the server stays from one try to reach it to the next',
  withServer(async (house) => {
    const page = await house.openPage('/', KEPT);
    house.expectsFailures = true;
    await isKept(page);
    await house.server.kill();
    await page.goto('/');
    const way = page.getByRole('button', { name: 'Play without it' });
    await way.focus();
    for (let tries = 0; tries < 3; tries++) await page.waitForEvent('websocket');
    await way.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('You play without the server').waitFor();
  }),
);

/** The moves that the page tells. */
const listed = (page: Page) => page.locator('.moves button').allTextContents();

/** Somebody who has begun a game without a server, and what it tells of the moves. */
async function begun(house: TestHarness) {
  const page = await house.openPage('/', KEPT);
  await withoutServer(house, page);
  await startBotMatch(page);
  await playMove(page, 'b2');
  await waitForMyTurn(page);
  return { page, before: await listed(page) };
}

/** Plays whatever is possible until it is over. */
async function playOut(page: Page) {
  while (!(await isMatchOver(page))) {
    const [square = ''] = await legalSquares(page);
    // Not until it is no more our turn: a bot that has answered already would be waited for.
    await playMove(page, square);
  }
}

for (const game of selectVariants(['Tic-tac-toe', 'Connect Four'], 'Connect Four')) {
  test(
    `${game} is played to its end without a server, and again`,
    withServer(async (house) => {
      const page = await house.openPage('/', KEPT);
      await withoutServer(house, page);
      await startBotMatch(page, { game, level: 'Easy' });
      await waitForMyTurn(page);
      await playOut(page);
      await barButton(page, 'Rematch').click();
      await page.locator('.room:not(.ended)').waitFor();
      await playOut(page);
      await takeScreenshot(page, `alone-${game}`);
      // What was played is among one's games.
      await page.goto('/games');
      await page.getByRole('button', { name: 'Play without it' }).click();
      await page.locator('.over li').nth(1).waitFor();
      assert.equal(await page.locator('.over li').count(), 2);
    }),
  );
}

test(
  'without a server the strongest bot does not lose, and a move is taken back',
  withServer(async (house) => {
    const page = await house.openPage('/', KEPT);
    await withoutServer(house, page);
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
  'past games are looked at again without a server, and what needs it is refused',
  withServer(async (house) => {
    const page = await house.openPage('/', KEPT);
    await startBotMatch(page);
    await playOut(page);
    const count = await countMoves(page);
    const { pathname } = new URL(page.url());
    await withoutServer(house, page, pathname);
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
  'without a server nothing is offered that needs it',
  withServer(async (house) => {
    const page = await house.openPage('/', { ...KEPT, axe: true });
    await withoutServer(house, page);
    await page.getByRole('button', { name: /^Play the/ }).waitFor();
    await takeScreenshot(page, 'alone-lobby');
    for (const name of ['Invite a friend', 'Find an opponent', 'Create an open match', 'Show'])
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
    assert.equal(await page.getByRole('combobox', { name: 'Clock' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Set up' }).count(), 0);
    await expectAccessible(page, 'the lobby without a server');
    // Whoever plays the weakest bot often enough beats it.
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
  'a game without a server goes on after a reload',
  withServer(async (house) => {
    const page = await house.openPage('/', KEPT);
    await withoutServer(house, page);
    await startBotMatch(page, { game: 'Connect Four' });
    await playMove(page, 'd1');
    await waitForMyTurn(page);
    const before = await listed(page);
    await page.reload();
    await waitForMyTurn(page);
    assert.deepEqual(await listed(page), before);
    await takeScreenshot(page, 'alone-going-on');
    await playOut(page);
    // What is over is not gone on with, and is still to be seen.
    await page.reload();
    await page.locator('.room.ended').waitFor();
    assert.equal(await page.evaluate(() => localStorage.getItem('plyhouse.alone')), null);
  }),
);

test(
  'the page tells that the server is there again, and the game is taken up again',
  withServer(async (house) => {
    const { page, before } = await begun(house);
    await house.server.start();
    // It is asked for ever more seldom, at last every minute or so.
    await page.getByText('The server is there again.').waitFor({ timeout: 90_000 });
    await takeScreenshot(page, 'alone-server-again');
    await page.getByRole('button', { name: 'Play with it' }).click();
    await page.getByRole('radio', { name: 'Chess', exact: true }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/');
    const row = page.locator('.own li', { hasText: 'without the server' });
    await row.getByRole('button', { name: 'Go on' }).click();
    await waitForMyTurn(page);
    assert.deepEqual(await listed(page), before);
    await playOut(page);
    await page.getByRole('button', { name: 'Play with it' }).click();
    await page.getByRole('radio', { name: 'Chess', exact: true }).waitFor();
    assert.equal(await row.count(), 0);
  }),
);

test(
  'without a server one plays in one tab, and takes it back in the other',
  withServer(async (house) => {
    const { page, before } = await begun(house);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await waitForMyTurn(other);
    await page.getByText('You are playing in another tab').waitFor();
    assert.deepEqual(await listed(other), before);
    const [square = ''] = await legalSquares(other);
    await playMove(other, square);
    await waitForMyTurn(other);
    const after = await listed(other);
    await page.getByRole('button', { name: 'Take it back here' }).click();
    await waitForMyTurn(page);
    assert.deepEqual(await listed(page), after);
    await other.getByText('You are playing in another tab').waitFor();
  }),
);

test(
  'whoever looks for a server that is not there plays on',
  withServer(async (house) => {
    const page = await house.openPage('/', KEPT);
    await withoutServer(house, page);
    await startBotMatch(page);
    await playMove(page, 'b2');
    // A move takes away what was said before it.
    await waitForMyTurn(page);
    await page.getByRole('button', { name: 'Look for the server' }).click();
    await page.getByText('The server is not there yet.').waitFor();
    await waitForMyTurn(page);
    assert.equal(await countMoves(page), 2);
  }),
);

test(
  'what is written among the kept games by somebody else breaks nothing',
  withServer(async (house) => {
    const { page, before } = await begun(house);
    await page.evaluate(() => {
      const [game] = JSON.parse(localStorage.getItem('plyhouse.alone') ?? '[]');
      const others = [
        ...[null, 7, 'x', {}, { ...game, id: '../x' }, { ...game, id: 'alone-1', moves: 'b2' }],
        // Of the right shape, and no game.
        { ...game, id: 'alone-2', moves: ['b2', 'b2'] },
        { ...game, id: 'alone-3', game: 'chess' },
        { ...game, id: 'alone-4', seats: ['me', { bot: 'x' }] },
      ];
      localStorage.setItem('plyhouse.alone', JSON.stringify([...others, game]));
      localStorage.setItem('plyhouse.past', JSON.stringify([null, {}, { snapshot: {} }]));
    });
    await page.reload();
    await waitForMyTurn(page);
    assert.deepEqual(await listed(page), before);
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
    lying: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `what is said without a server is read, and covers little: ${size}`,
    withServer(async (house) => {
      const page = await house.openPage('/', { ...KEPT, viewport });
      await withoutServer(house, page);
      await takeScreenshot(page, `alone-lobby-${size}`);
      await expectNoHorizontalOverflow(page);
      await startBotMatch(page);
      await waitForMyTurn(page);
      await takeScreenshot(page, `alone-room-${size}`);
      const lines = () =>
        page.locator('.banner p').evaluate((told) => {
          const { lineHeight } = getComputedStyle(told);
          return Math.round(told.getBoundingClientRect().height / Number.parseFloat(lineHeight));
        });
      assert.ok((await lines()) <= 2, `${await lines()} lines`);
      await expectNoHorizontalOverflow(page);
    }),
  );
}

test(
  'once the server is there again one is who one was',
  withServer(async (house) => {
    const page = await house.openPage('/', KEPT);
    await startBotMatch(page);
    const token = await page.evaluate(() => localStorage.getItem('plyhouse.token'));
    await withoutServer(house, page);
    await house.server.start();
    // The page may have found it by itself: the same button says so then.
    await page.getByRole('button', { name: /^(Look for the server|Play with it)$/ }).click();
    await page.getByRole('radio', { name: 'Chess', exact: true }).waitFor();
    assert.equal(await page.evaluate(() => localStorage.getItem('plyhouse.token')), token);
    assert.equal(await page.getByText('You play without the server').count(), 0);
  }),
);

test(
  'somebody else finds nothing of the past of whoever was here before',
  withServer(async (house) => {
    const page = await house.openPage();
    await startBotMatch(page);
    await playOut(page);
    const kept = () => page.evaluate(() => localStorage.getItem('plyhouse.past'));
    assert.ok((await kept())?.includes('tic-tac-toe'));
    await page.evaluate(() => localStorage.removeItem('plyhouse.token'));
    await page.evaluate(() => localStorage.removeItem('plyhouse.name'));
    await page.goto('/');
    await page.getByRole('button', { name: /^Play the/ }).waitFor();
    assert.equal(await kept(), null);
  }),
);
