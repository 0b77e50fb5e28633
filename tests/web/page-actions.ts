// Actions of users on the page, and assertions on what it shows, for the browser tests.

import assert from 'node:assert/strict';

import { eventually, finishAnimations } from './support.ts';

import type { AxeViolation, Page } from './support.ts';

export const cell = (page: Page, square: string) =>
  page.getByRole('gridcell', { name: new RegExp(`^${square},`) });

/** Waits until the header shows this player name. */
export const waitForOwnName = (page: Page, name: string) =>
  page.locator('header .name bdi').getByText(name, { exact: true }).waitFor();

export const waitForStatus = (page: Page, text: string | RegExp) =>
  page.locator('.standing', { hasText: text }).waitFor();

/** Waits until it is our turn and the page is connected. */
export const waitForMyTurn = (page: Page) =>
  page.locator('.room.my-turn .standing', { hasText: 'Your turn.' }).waitFor();

/** Plays a move by clicking these squares, and waits until the server has accepted it. */
export const playMove = (page: Page, ...squares: string[]) =>
  playAndWait(page, async () => {
    for (const square of squares) await cell(page, square).click();
  });

/** Plays a move without a square, such as a pass. */
export const playOtherMove = (page: Page, name: string) =>
  playAndWait(page, () =>
    page.getByRole('group', { name: 'Other moves' }).getByRole('button', { name }).click(),
  );

/** Waits for our turn, calls `play`, and waits until the server has accepted the move. */
export async function playAndWait(page: Page, play: () => Promise<void>) {
  await waitForMyTurn(page);
  const before = await countMoves(page);
  await play();
  await page.waitForFunction(
    (count) => document.querySelectorAll('.moves button').length > count,
    before,
  );
}

/** Plays moves such as `e2-e4 e7-e5` by clicking their squares. The pages take turns. */
export async function playMoves(first: Page, second: Page, moves: string) {
  for (const [ply, move] of moves.split(' ').entries()) {
    await playMove(ply % 2 === 0 ? first : second, ...move.split('-'));
  }
}

export const barButton = (page: Page, name: string) =>
  page.getByRole('group', { name: 'In this match' }).getByRole('button', { name });

/** Number of moves in the move list. */
export const countMoves = (page: Page) => page.locator('.moves button').count();

/** Waits until it is our turn or the match is over, and returns whether it is over. */
export async function isMatchOver(page: Page) {
  await page.locator('.room.my-turn, .room.ended').waitFor();
  return (await page.locator('.room.ended').count()) > 0;
}

/** Squares that are marked as targets of legal moves. */
export const legalSquares = (page: Page): Promise<string[]> =>
  page
    .locator('[role=gridcell].legal')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-square') ?? ''));

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

/** Creates a match for a friend and returns its link. */
export const inviteFriend = (page: Page, game?: string) =>
  createMatch(page, 'Invite a friend', game);

/** Creates an open match and returns its link. */
export const createOpenMatch = (page: Page, game?: string) =>
  createMatch(page, 'Create an open match', game);

async function createMatch(page: Page, button: string, game = 'Tic-tac-toe') {
  await page.getByRole('radio', { name: game, exact: true }).check();
  await page.getByRole('button', { name: button }).click();
  return page.getByLabel('Link to this match').inputValue();
}

/** Like `inviteFriend`, with fields of the `create` request that the lobby does not offer. */
export async function inviteWithTerms(page: Page, terms: Record<string, unknown>, game?: string) {
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const request = JSON.parse(String(text));
      server.send(JSON.stringify({ ...request, ...(request.type === 'create' ? terms : {}) }));
    });
  });
  await page.reload();
  return inviteFriend(page, game);
}

/** Opens the page with the player's name, devices and API keys. */
export async function openAccountPage(page: Page) {
  await page.locator('header .name').click();
  await page.locator('.devices li').first().waitFor();
}

export async function openRenameDialog(page: Page) {
  await openAccountPage(page);
  await page.getByRole('button', { name: 'Choose a name' }).click();
}

/** Registers an account with `PASSWORD` and returns to the lobby. */
export async function signUp(page: Page, name: string) {
  await openAccountPage(page);
  const account = page.getByRole('region', { name: 'Keep your name' });
  await account.getByLabel('Name', { exact: true }).fill(name);
  await account.getByLabel('New password').fill(PASSWORD);
  await account.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.goto('/');
}

export const PASSWORD = 'correct horse battery';

/** Match code in a link. */
export const codeFromLink = (link: string) => new URL(link).pathname.slice(-6);

export const chooseClock = (page: Page, title: string) =>
  page.getByRole('combobox', { name: 'Clock', exact: true }).selectOption(title);

export async function expectNoHorizontalOverflow(page: Page) {
  const [content, viewport] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
  ]);
  assert.ok(
    content !== undefined && viewport !== undefined && content <= viewport,
    `${content} > ${viewport}`,
  );
}

/** Waits for an element, and asserts that it lies vertically within the viewport. */
export async function expectInViewport(locator: ReturnType<Page['locator']>) {
  await locator.waitFor();
  const box = await locator.boundingBox();
  const height = locator.page().viewportSize()?.height ?? 0;
  assert.ok(box && box.y >= 0 && box.y + box.height <= height, `${JSON.stringify(box)}: ${height}`);
}

/** Maximum number of axe runs, because the page may change during a run. */
const MAX_AXE_RUNS = 3;

/** Asserts that axe finds no faults on a page that was opened with `axe: true`. */
export async function expectAccessible(page: Page, state: string) {
  let faults: string[] = [];
  // Faults that appear only while a clock or a move changes the page are gone in the next run.
  for (let run = 0; run < MAX_AXE_RUNS; run++) {
    await finishAnimations(page);
    faults = await page.evaluate(async () => {
      // @ts-expect-error: injected
      const { violations } = await globalThis.axe.run();
      return violations.map(
        ({ id, nodes }: AxeViolation) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
      );
    });
    if (faults.length === 0) return;
  }
  assert.deepEqual(faults, [], state);
}

/** Waits until the tab has this title. */
export const expectTitle = (page: Page, title: string | RegExp) =>
  eventually(async () => {
    const actual = await page.title();
    if (typeof title === 'string') assert.equal(actual, title);
    else assert.match(actual, title);
  });

/** Waits until the first page has the URL of the other page. */
export const waitForSameUrl = (page: Page, other: Page) =>
  page.waitForURL((url) => url.href === other.url());
