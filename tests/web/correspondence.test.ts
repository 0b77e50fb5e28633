// Tests correspondence matches: rows in the lobby, toasts, deadlines and the confirmation of moves.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  openRenameDialog,
  cell,
  chooseClock,
  expectNoHorizontalOverflow,
  inviteFriend,
  expectAccessible,
  countMoves,
  waitForMyTurn,
  startBotMatch,
  playAndWait,
  waitForStatus,
  expectTitle,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/** Plays a move and confirms it. */
const playConfirmed = (page: Page, ...squares: string[]) =>
  playAndWait(page, async () => {
    for (const square of squares) await cell(page, square).click();
    await page
      .getByRole('group', { name: 'Your move' })
      .getByRole('button', { name: 'Play' })
      .click();
  });

const DEADLINE = String.raw`until \w{3}, \w{3} \d+, \d\d:\d\d`;

test(
  'correspondence matches are listed with turn and deadline, and a toast announces our turn',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await chooseClock(ann, '3 days a move');
    const link = await inviteFriend(ann, 'Chess');
    const bob = await harness.openPage(link);
    await playConfirmed(ann, 'e2', 'e4');
    // The list shows the latest move of a followed match.
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    const row = ann.locator('.kind', { hasText: 'Your games by days' }).locator('li');
    const theirs = new RegExp(String.raw`guest-\w+\s*Chess · their turn ${DEADLINE}`);
    await row.filter({ hasText: theirs }).waitFor();
    // The match prevents a change of name.
    await openRenameDialog(ann);
    await ann.getByText('It can be changed when the match is over').waitFor();
    await ann.keyboard.press('Escape');
    await ann.getByRole('link', { name: 'Plyhouse' }).click();

    // After a reload the page receives only the row of the match.
    await ann.reload();
    await row.filter({ hasText: theirs }).waitFor();
    await playConfirmed(bob, 'e7', 'e5');
    await row.filter({ hasText: new RegExp(`Chess · your turn ${DEADLINE}`) }).waitFor();
    const toast = ann.locator('#toast');
    await toast.filter({ hasText: /^Chess against guest-\w+: Your turn\./ }).waitFor();
    await expectTitle(ann, '● Your turn by days – Plyhouse');
    await takeScreenshot(ann, 'days-rows');
    await toast.getByRole('link', { name: 'Go there' }).click();
    await cell(ann, 'e5')
      .and(ann.getByLabel(/pawn, last move/))
      .waitFor();
    await waitForMyTurn(ann);
    await expectTitle(ann, '● Your turn. – Chess – Plyhouse');
    // The list does not show finished matches.
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await waitForStatus(ann, 'You lose.');
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.getByText('Your games by days').waitFor({ state: 'hidden' });
  }),
);

test(
  'correspondence moves need a confirmation',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    await chooseClock(ann, '3 days a move');
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    const confirmation = ann.getByRole('group', { name: 'Your move' });
    await cell(ann, 'e2').click();
    await cell(ann, 'e4').click();
    await confirmation.waitFor();
    await cell(ann, 'e4').and(ann.getByLabel('white pawn')).waitFor();
    await expectAccessible(ann, 'confirmation of a move');
    await takeScreenshot(ann, 'meant');
    await confirmation.getByRole('button', { name: 'Another' }).click();
    await cell(ann, 'e2').and(ann.getByLabel('white pawn')).waitFor();
    assert.equal(await countMoves(bob), 0);
    await cell(ann, 'd2').click();
    await cell(ann, 'd3').click();
    await confirmation.waitFor();
    await ann.keyboard.press('Escape');
    await confirmation.waitFor({ state: 'hidden' });
    await cell(ann, 'd2').click();
    await cell(ann, 'd4').click();
    await ann.locator(':focus', { hasText: 'Play' }).waitFor();
    await ann.keyboard.press('Enter');
    await cell(bob, 'd4').and(bob.getByLabel('white pawn')).waitFor();
    await confirmation.waitFor({ state: 'hidden' });
    assert.equal(await countMoves(bob), 1);
  }),
);

test(
  'a correspondence match without stored data in this browser is listed, too',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await chooseClock(ann, '3 days a move');
    const link = await inviteFriend(ann, 'Chess');
    const clearStoredRows = async () => {
      await ann.evaluate(() => localStorage.removeItem('plyhouse.days'));
      await ann.goto('/');
    };
    await clearStoredRows();
    const row = ann.locator('.kind', { hasText: 'Your games by days' }).locator('li');
    await row.filter({ hasText: 'Nobody yet' }).waitFor();
    await row.getByRole('button', { name: /^Open: / }).click();
    await waitForStatus(ann, 'Waiting for an opponent.');
    await harness.openPage(link);
    await waitForMyTurn(ann);
    await clearStoredRows();
    await row.filter({ hasText: new RegExp(`A match by days.*your turn ${DEADLINE}`) }).waitFor();
    await row.getByRole('button', { name: /^Your turn: / }).click();
    await waitForMyTurn(ann);
  }),
);

test(
  'on a phone the lobby shows own matches above new games',
  withServer(async (harness) => {
    const viewport = { width: 390, height: 844 };
    const ann = await harness.openPage('/', { viewport, axe: true });
    const openLobby = () => ann.getByRole('link', { name: 'Plyhouse' }).click();
    await startBotMatch(ann);
    await waitForMyTurn(ann);
    await openLobby();
    await chooseClock(ann, '3 days a move');
    await inviteFriend(ann, 'Chess');
    await openLobby();
    const getTop = async (name: string) =>
      (await ann.getByRole('heading', { name }).boundingBox())?.y ?? NaN;
    await ann.getByRole('heading', { name: 'Your games by days' }).waitFor();
    assert.ok((await getTop('Your matches')) < (await getTop('Your games by days')));
    assert.ok((await getTop('Your games by days')) < (await getTop('What shall we play?')));
    assert.ok((await getTop('What shall we play?')) < (await getTop('Open matches')));
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'own matches');
    await takeScreenshot(ann, 'own-matches-phone');
    await ann.setViewportSize({ width: 1280, height: 800 });
    await takeScreenshot(ann, 'own-matches');
  }),
);
