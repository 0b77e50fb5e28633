// Matches by days: told of in a line each, and not followed until one looks at them.

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

/** Plays, and says that it is meant. */
const playMeant = (page: Page, ...squares: string[]) =>
  playAndWait(page, async () => {
    for (const square of squares) await cell(page, square).click();
    await page
      .getByRole('group', { name: 'Your move' })
      .getByRole('button', { name: 'Play' })
      .click();
  });

const UNTIL = String.raw`until \w{3}, \w{3} \d+, \d\d:\d\d`;

test(
  'games by days are listed with whose turn it is and until when, and told when it is ours',
  withServer(async (house) => {
    const ann = await house.openPage();
    await chooseClock(ann, '3 days a move');
    const link = await inviteFriend(ann, 'Chess');
    const bob = await house.openPage(link);
    await playMeant(ann, 'e2', 'e4');
    // While it is followed the list knows it, too.
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    const row = ann.locator('.kind', { hasText: 'Your games by days' }).locator('li');
    const theirs = new RegExp(String.raw`guest-\w+\s*Chess · their turn ${UNTIL}`);
    await row.filter({ hasText: theirs }).waitFor();
    // A name is bound to it.
    await openRenameDialog(ann);
    await ann.getByText('It can be changed when the match is over').waitFor();
    await ann.keyboard.press('Escape');
    await ann.getByRole('link', { name: 'Plyhouse' }).click();

    // With the next connection it is told in a line.
    await ann.reload();
    await row.filter({ hasText: theirs }).waitFor();
    await playMeant(bob, 'e7', 'e5');
    await row.filter({ hasText: new RegExp(`Chess · your turn ${UNTIL}`) }).waitFor();
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
    // What is over is no more listed.
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await waitForStatus(ann, 'You lose.');
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.getByText('Your games by days').waitFor({ state: 'hidden' });
  }),
);

test(
  'in a game by days one is asked whether a move is meant',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true });
    await chooseClock(ann, '3 days a move');
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    const asked = ann.getByRole('group', { name: 'Your move' });
    await cell(ann, 'e2').click();
    await cell(ann, 'e4').click();
    await asked.waitFor();
    await cell(ann, 'e4').and(ann.getByLabel('white pawn')).waitFor();
    await expectAccessible(ann, 'whether a move is meant');
    await takeScreenshot(ann, 'meant');
    await asked.getByRole('button', { name: 'Another' }).click();
    await cell(ann, 'e2').and(ann.getByLabel('white pawn')).waitFor();
    assert.equal(await countMoves(bob), 0);
    await cell(ann, 'd2').click();
    await cell(ann, 'd3').click();
    await asked.waitFor();
    await ann.keyboard.press('Escape');
    await asked.waitFor({ state: 'hidden' });
    await cell(ann, 'd2').click();
    await cell(ann, 'd4').click();
    await ann.locator(':focus', { hasText: 'Play' }).waitFor();
    await ann.keyboard.press('Enter');
    await cell(bob, 'd4').and(bob.getByLabel('white pawn')).waitFor();
    await asked.waitFor({ state: 'hidden' });
    assert.equal(await countMoves(bob), 1);
  }),
);

test(
  'of a game by days that this browser has never seen a line is shown, too',
  withServer(async (house) => {
    const ann = await house.openPage();
    await chooseClock(ann, '3 days a move');
    const link = await inviteFriend(ann, 'Chess');
    const forget = async () => {
      await ann.evaluate(() => localStorage.removeItem('plyhouse.days'));
      await ann.goto('/');
    };
    await forget();
    const row = ann.locator('.kind', { hasText: 'Your games by days' }).locator('li');
    await row.filter({ hasText: 'Nobody yet' }).waitFor();
    await row.getByRole('button', { name: /^Open: / }).click();
    await waitForStatus(ann, 'Waiting for an opponent.');
    await house.openPage(link);
    await waitForMyTurn(ann);
    await forget();
    await row.filter({ hasText: new RegExp(`A match by days.*your turn ${UNTIL}`) }).waitFor();
    await row.getByRole('button', { name: /^Your turn: / }).click();
    await waitForMyTurn(ann);
  }),
);

test(
  'what waits for us comes before what one may begin, where there is little room',
  withServer(async (house) => {
    const viewport = { width: 390, height: 844 };
    const ann = await house.openPage('/', { viewport, axe: true });
    const lobby = () => ann.getByRole('link', { name: 'Plyhouse' }).click();
    await startBotMatch(ann);
    await waitForMyTurn(ann);
    await lobby();
    await chooseClock(ann, '3 days a move');
    await inviteFriend(ann, 'Chess');
    await lobby();
    const top = async (name: string) =>
      (await ann.getByRole('heading', { name }).boundingBox())?.y ?? NaN;
    await ann.getByRole('heading', { name: 'Your games by days' }).waitFor();
    assert.ok((await top('Your matches')) < (await top('Your games by days')));
    assert.ok((await top('Your games by days')) < (await top('What shall we play?')));
    assert.ok((await top('What shall we play?')) < (await top('Open matches')));
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'own matches');
    await takeScreenshot(ann, 'own-matches-phone');
    await ann.setViewportSize({ width: 1280, height: 800 });
    await takeScreenshot(ann, 'own-matches');
  }),
);
