// What people do on the page, in their words.

import assert from 'node:assert/strict';

import { eventually, finishAnimations } from './support.ts';

import type { Page } from './support.ts';

export const cell = (page: Page, square: string) =>
  page.getByRole('gridcell', { name: new RegExp(`^${square},`) });

export const waitForStatus = (page: Page, text: string | RegExp) =>
  page.locator('.standing', { hasText: text }).waitFor();

/** It is our turn, and there is a connection to play over. */
export const waitForMyTurn = (page: Page) =>
  page.locator('.room.my-turn .standing', { hasText: 'Your turn.' }).waitFor();

/** Plays by clicking these squares, and waits until the server has taken the move. */
export const playMove = (page: Page, ...squares: string[]) =>
  playAndWait(page, async () => {
    for (const square of squares) await cell(page, square).click();
  });

/** Plays a move that has no square. */
export const playOtherMove = (page: Page, name: string) =>
  playAndWait(page, () =>
    page.getByRole('group', { name: 'Other moves' }).getByRole('button', { name }).click(),
  );

/**
 * Waits for our turn, and then until the server has taken the move.
 * @param does what plays it
 */
export async function playAndWait(page: Page, does: () => Promise<void>) {
  await waitForMyTurn(page);
  const before = await countMoves(page);
  await does();
  await page.waitForFunction(
    (count) => document.querySelectorAll('.moves button').length > count,
    before,
  );
}

/**
 * Plays these moves in turn, each by its squares.
 * @param first who begins
 * @param moves apart by spaces, their squares by `-`
 */
export async function playMoves(first: Page, second: Page, moves: string) {
  for (const [at, move] of moves.split(' ').entries()) {
    await playMove(at % 2 === 0 ? first : second, ...move.split('-'));
  }
}

/** A button of the bar. */
export const barButton = (page: Page, name: string) =>
  page.getByRole('group', { name: 'In this match' }).getByRole('button', { name });

/** How many moves the page knows of. */
export const countMoves = (page: Page) => page.locator('.moves button').count();

/** Whether the match is over; waits until it is that or our turn. */
export async function isMatchOver(page: Page) {
  await page.locator('.room.my-turn, .room.ended').waitFor();
  return (await page.locator('.room.ended').count()) > 0;
}

/** The squares one can play on now. */
export const legalSquares = (page: Page): Promise<string[]> =>
  page
    .locator('[role=gridcell].legal')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-square') ?? ''));

/** Begins a match against a bot. */
export async function startBotMatch(
  page: Page,
  {
    game = 'Tic-tac-toe',
    level = 'Beginner',
    side,
  }: { game?: string; level?: string; side?: string } = {},
) {
  await page.getByRole('radio', { name: game, exact: true }).check();
  await page.getByRole('radio', { name: level, exact: true }).check();
  if (side) await page.getByRole('radio', { name: side }).check();
  await page.getByRole('button', { name: /^Play the/ }).click();
  await page.getByRole('grid').waitFor();
}

/** Opens a match for a friend, and gives the link to it. */
export const inviteFriend = (page: Page, game?: string) => opening(page, 'Invite a friend', game);

/** Opens a match for anybody, and gives the link to it. */
export const createOpenMatch = (page: Page, game?: string) =>
  opening(page, 'Create an open match', game);

/** @param name of the button */
async function opening(page: Page, name: string, game: string = 'Tic-tac-toe') {
  await page.getByRole('radio', { name: game, exact: true }).check();
  await page.getByRole('button', { name }).click();
  return page.getByLabel('Link to this match').inputValue();
}

/**
 * Opens a match for a friend by other terms than the lobby has.
 * @param terms fields of `create`
 */
export async function inviteWithTerms(page: Page, terms: Record<string, unknown>, game?: string) {
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const request = JSON.parse(String(text));
      const more = request.type === 'create' ? terms : {};
      server.send(JSON.stringify({ ...request, ...more }));
    });
  });
  await page.reload();
  return inviteFriend(page, game);
}

/** Where one's name, devices and keys are. */
export async function openAccountPage(page: Page) {
  await page.locator('header .name').click();
  await page.locator('.devices li').first().waitFor();
}

/** Asks for another name. */
export async function openRenameDialog(page: Page) {
  await openAccountPage(page);
  await page.getByRole('button', { name: 'Choose a name' }).click();
}

/** Takes a name that is one's own, and goes back to the lobby. */
export async function signUp(page: Page, name: string) {
  await openAccountPage(page);
  const account = page.getByRole('region', { name: 'Keep your name' });
  await account.getByLabel('Name', { exact: true }).fill(name);
  await account.getByLabel('New password').fill(PASSWORD);
  await account.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.goto('/');
}

/** With which people of the tests sign up. */
export const PASSWORD = 'correct horse battery';

/** The code in a link. */
export const codeFromLink = (link: string) => new URL(link).pathname.slice(-6);

export const chooseClock = (page: Page, title: string) =>
  page.getByRole('combobox', { name: 'Clock', exact: true }).selectOption(title);

/** Nothing sticks out to the side. */
export async function expectNoHorizontalOverflow(page: Page) {
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
  ]);
  assert.ok(
    content !== undefined && window !== undefined && content <= window,
    `${content} > ${window}`,
  );
}

/** It is there, and within the window. */
export async function expectInViewport(one: ReturnType<Page['locator']>) {
  await one.waitFor();
  const box = await one.boundingBox();
  const height = one.page().viewportSize()?.height ?? 0;
  assert.ok(box && box.y >= 0 && box.y + box.height <= height, `${JSON.stringify(box)}: ${height}`);
}

/** So often axe looks, if something changes while it does. */
const LOOKS = 3;

/** What axe finds; the visitor has to have brought it. */
export async function expectAccessible(page: Page, state: string) {
  let found: string[] = [];
  // A clock or the other player may change what it looks at meanwhile: what is wrong is so the next time, too.
  for (let look = 0; look < LOOKS; look++) {
    await finishAnimations(page);
    found = await page.evaluate(async () => {
      // @ts-expect-error: injected
      const { violations } = await globalThis.axe.run();
      return violations.map(
        ({ id, nodes }: any) => `${id}: ${nodes.map((node: any) => node.html).join(' ')}`,
      );
    });
    if (found.length === 0) return;
  }
  assert.deepEqual(found, [], state);
}

/** The tab is called so. */
export const expectTitle = (page: Page, title: string | RegExp) =>
  eventually(async () => {
    const seen = await page.title();
    if (typeof title === 'string') assert.equal(seen, title);
    else assert.match(seen, title);
  });

/** Both look at the same address. */
export const waitForSameUrl = (one: Page, other: Page) =>
  one.waitForURL((url) => url.href === other.url());
