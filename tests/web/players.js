// What people do on the page, in their words.

import assert from 'node:assert/strict';

import { eventually, settle } from './support.js';

/** @import { Page } from './support.js' */

/** @param {Page} page @param {string} square */
export const cell = (page, square) =>
  page.getByRole('gridcell', { name: new RegExp(`^${square},`) });

/** @param {Page} page @param {string | RegExp} text */
export const says = (page, text) => page.locator('.standing', { hasText: text }).waitFor();

/** It is our turn, and there is a connection to play over. @param {Page} page */
export const myTurn = (page) =>
  page.locator('.room.my-turn .standing', { hasText: 'Your turn.' }).waitFor();

/**
 * Plays by clicking these squares, and waits until the server has taken the move.
 * @param {Page} page
 * @param {...string} squares
 */
export const play = (page, ...squares) =>
  playing(page, async () => {
    for (const square of squares) await cell(page, square).click();
  });

/** Plays a move that has no square. @param {Page} page @param {string} name */
export const playOther = (page, name) =>
  playing(page, () =>
    page.getByRole('group', { name: 'Other moves' }).getByRole('button', { name }).click(),
  );

/**
 * Waits for our turn, and then until the server has taken the move.
 * @param {Page} page
 * @param {() => Promise<void>} does what plays it
 */
export async function playing(page, does) {
  await myTurn(page);
  const before = await moves(page);
  await does();
  await page.waitForFunction(
    (count) => document.querySelectorAll('.moves button').length > count,
    before,
  );
}

/**
 * Plays these moves in turn, each by its squares.
 * @param {Page} first who begins
 * @param {Page} second
 * @param {string} moves apart by spaces, their squares by `-`
 */
export async function playAll(first, second, moves) {
  for (const [at, move] of moves.split(' ').entries()) {
    await play(at % 2 === 0 ? first : second, ...move.split('-'));
  }
}

/** A button of the bar. @param {Page} page @param {string} name */
export const inBar = (page, name) =>
  page.getByRole('group', { name: 'In this match' }).getByRole('button', { name });

/** How many moves the page knows of. @param {Page} page */
export const moves = (page) => page.locator('.moves button').count();

/** Whether the match is over; waits until it is that or our turn. @param {Page} page */
export async function isOver(page) {
  await page.locator('.room.my-turn, .room.ended').waitFor();
  return (await page.locator('.room.ended').count()) > 0;
}

/** The squares one can play on now. @param {Page} page @returns {Promise<string[]>} */
export const legal = (page) =>
  page
    .locator('[role=gridcell].legal')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-square') ?? ''));

/**
 * Begins a match against a bot.
 * @param {Page} page
 * @param {{ game?: string, level?: string, side?: string }} [choice]
 */
export async function playBot(page, { game = 'Tic-tac-toe', level = 'Beginner', side } = {}) {
  await page.getByRole('radio', { name: game, exact: true }).check();
  await page.getByRole('radio', { name: level, exact: true }).check();
  if (side) await page.getByRole('radio', { name: side }).check();
  await page.getByRole('button', { name: /^Play the/ }).click();
  await page.getByRole('grid').waitFor();
}

/**
 * Opens a match for a friend, and gives the link to it.
 * @param {Page} page
 * @param {string} [game]
 */
export const invite = (page, game) => opening(page, 'Invite a friend', game);

/**
 * Opens a match for anybody, and gives the link to it.
 * @param {Page} page
 * @param {string} [game]
 */
export const openToAll = (page, game) => opening(page, 'Create an open match', game);

/** @param {Page} page @param {string} name of the button @param {string} [game] */
async function opening(page, name, game = 'Tic-tac-toe') {
  await page.getByRole('radio', { name: game, exact: true }).check();
  await page.getByRole('button', { name }).click();
  return page.getByLabel('Link to this match').inputValue();
}

/**
 * Opens a match for a friend by other terms than the lobby has.
 * @param {Page} page
 * @param {Record<string, unknown>} terms fields of `create`
 * @param {string} [game]
 */
export async function inviteOn(page, terms, game) {
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const request = JSON.parse(String(text));
      const more = request.type === 'create' ? terms : {};
      server.send(JSON.stringify({ ...request, ...more }));
    });
  });
  await page.reload();
  return invite(page, game);
}

/** Where one's name, devices and keys are. @param {Page} page */
export async function goToYou(page) {
  await page.locator('header .name').click();
  await page.locator('.devices li').first().waitFor();
}

/** Asks for another name. @param {Page} page */
export async function chooseName(page) {
  await goToYou(page);
  await page.getByRole('button', { name: 'Choose a name' }).click();
}

/** Takes a name that is one's own, and goes back to the lobby. @param {Page} page @param {string} name */
export async function signUp(page, name) {
  await goToYou(page);
  const account = page.getByRole('region', { name: 'Keep your name' });
  await account.getByLabel('Name', { exact: true }).fill(name);
  await account.getByLabel('New password').fill(PASSWORD);
  await account.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.goto('/');
}

/** With which people of the tests sign up. */
export const PASSWORD = 'correct horse battery';

/** The code in a link. @param {string} link */
export const codeOf = (link) => new URL(link).pathname.slice(-6);

/** @param {Page} page @param {string} title */
export const chooseClock = (page, title) =>
  page.getByRole('combobox', { name: 'Clock', exact: true }).selectOption(title);

/** Nothing sticks out to the side. @param {Page} page */
export async function fits(page) {
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
  ]);
  assert.ok(
    content !== undefined && window !== undefined && content <= window,
    `${content} > ${window}`,
  );
}

/** It is there, and within the window. @param {ReturnType<Page['locator']>} one */
export async function isInSight(one) {
  await one.waitFor();
  const box = await one.boundingBox();
  const height = one.page().viewportSize()?.height ?? 0;
  assert.ok(box && box.y >= 0 && box.y + box.height <= height, `${JSON.stringify(box)}: ${height}`);
}

/** So often axe looks, if something changes while it does. */
const LOOKS = 3;

/** What axe finds; the visitor has to have brought it. @param {Page} page @param {string} state */
export async function isOpenToAll(page, state) {
  /** @type {string[]} */
  let found = [];
  // A clock or the other player may change what it looks at meanwhile: what is wrong is so the next time, too.
  for (let look = 0; look < LOOKS; look++) {
    await settle(page);
    found = await page.evaluate(async () => {
      // @ts-expect-error: injected
      const { violations } = await globalThis.axe.run();
      return violations.map(
        (/** @type {any} */ { id, nodes }) =>
          `${id}: ${nodes.map((/** @type {any} */ node) => node.html).join(' ')}`,
      );
    });
    if (found.length === 0) return;
  }
  assert.deepEqual(found, [], state);
}

/** The tab is called so. @param {Page} page @param {string | RegExp} title */
export const titled = (page, title) =>
  eventually(async () => {
    const seen = await page.title();
    if (typeof title === 'string') assert.equal(seen, title);
    else assert.match(seen, title);
  });

/** Both look at the same address. @param {Page} one @param {Page} other */
export const together = (one, other) => one.waitForURL((url) => url.href === other.url());
