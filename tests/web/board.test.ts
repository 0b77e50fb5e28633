// What players expect of a board: stepping by arrow keys, arrows to think with, a piece above the finger,
// boards, pieces and figurines of one's own choice.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  inviteFriend,
  expectAccessible,
  legalSquares,
  countMoves,
  waitForMyTurn,
  playMove,
  playMoves,
  startBotMatch,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, finishAnimations } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/** The middle of a square. */
async function middle(page: Page, square: string) {
  const box = await cell(page, square).boundingBox();
  assert.ok(box, square);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Draws with the right button. */
async function draw(page: Page, from: string, to: string) {
  const [start, end] = [await middle(page, from), await middle(page, to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down({ button: 'right' });
  await page.mouse.move(end.x, end.y);
  await page.mouse.up({ button: 'right' });
}

test(
  'what the moves of tic-tac-toe are called stands on its board',
  withServer(async (house) => {
    const page = await house.openPage();
    await startBotMatch(page);
    await waitForMyTurn(page);
    const numbers = await page.locator('.surface .number').allTextContents();
    assert.equal(numbers.join(' '), '3 2 1 a b c');
  }),
);

test(
  'arrow keys step through the moves while one plays by mouse, and over the board by keyboard',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await playMoves(ann, bob, 'e2-e4 e7-e5');
    await waitForMyTurn(ann);
    // The focus is on the board, by click.
    await cell(ann, 'd5').click({ force: true });
    await ann.keyboard.press('ArrowLeft');
    await waitForStatus(ann, 'After 1 of 2 moves.');
    await ann.keyboard.press('ArrowRight');
    await waitForMyTurn(ann);
    // A piece that is in the hand is put down by keyboard.
    await cell(ann, 'd2').click();
    await ann.keyboard.press('ArrowUp');
    await ann.keyboard.press('Enter');
    await cell(bob, 'd3').and(bob.getByLabel('white pawn')).waitFor();
    await playMove(bob, 'a7', 'a6');
    await waitForMyTurn(ann);
    await ann.keyboard.press('Tab');
    await ann.keyboard.press('Shift+Tab');
    await ann.keyboard.press('ArrowUp');
    await cell(ann, 'd4').and(ann.locator(':focus')).waitFor();
    assert.equal(await countMoves(ann), 4);
  }),
);

test(
  'arrows and circles are drawn with the right button, and go with the position',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    const drawn = ann.locator('.drawn');
    await draw(ann, 'g1', 'f3');
    await draw(ann, 'e5', 'e5');
    assert.equal(await drawn.count(), 2);
    assert.equal(await ann.locator('.drawn.arrow').count(), 1);
    assert.equal(await bob.locator('.drawn').count(), 0);
    await takeScreenshot(ann, 'drawn');
    // Once more takes it away; a click takes all.
    await draw(ann, 'e5', 'e5');
    assert.equal(await drawn.count(), 1);
    await cell(ann, 'd5').click({ force: true });
    assert.equal(await drawn.count(), 0);
    await draw(ann, 'g1', 'f3');
    await ann.keyboard.press('e');
    await draw(ann, 'b1', 'c3');
    assert.equal(await drawn.count(), 2);
    assert.equal(await countMoves(ann), 0);
    await playMove(ann, 'e2', 'e4');
    assert.equal(await drawn.count(), 0);
  }),
);

test(
  'where there is no keyboard nothing is marked that nobody has touched, until a key is pressed',
  withServer(async (house) => {
    const ann = await house.openPage();
    const link = await inviteFriend(ann, 'Connect Four');
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const bob = await house.openPage(link, phone);
    await playMove(ann, 'd1');
    await waitForMyTurn(bob);
    const at = bob.locator('[role=gridcell]:focus');
    await at.waitFor();
    const frame = () => at.evaluate((cell) => getComputedStyle(cell).outlineStyle);
    const ghost = bob.locator('.picture .ghost');
    assert.equal(await frame(), 'none');
    assert.equal(await ghost.count(), 0);
    await takeScreenshot(bob, 'touched');
    // The first key shows where one is, and plays nothing.
    await bob.keyboard.press('Enter');
    await ghost.waitFor();
    assert.equal(await frame(), 'solid');
    assert.equal(await countMoves(bob), 1);
    await bob.keyboard.press('ArrowRight');
    await bob.keyboard.press('Enter');
    await cell(bob, 'e1')
      .and(bob.getByLabel(/yellow|red/))
      .waitFor();
  }),
);

test(
  'what a finger drags is seen above it, and its square is marked',
  withServer(async (house) => {
    const ann = await house.openPage('/', {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
    await house.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    const [from, to] = [await middle(ann, 'd2'), await middle(ann, 'd4')];
    const session = await ann.context().newCDPSession(ann);
    const touch = (
      type: 'touchStart' | 'touchMove' | 'touchEnd',
      ...touchPoints: { x: number; y: number }[]
    ) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
    await touch('touchStart', from);
    await touch('touchMove', { x: from.x, y: from.y - 20 });
    await touch('touchMove', to);
    const carried = ann.locator('.carried.lifted');
    await carried.waitFor();
    await ann.locator('.square.aim[data-square=d4]').waitFor();
    const box = await carried.boundingBox();
    assert.ok(box && box.y + box.height / 2 < to.y - 20, JSON.stringify(box));
    await takeScreenshot(ann, 'lifted');
    await touch('touchEnd');
    await cell(ann, 'd4').and(ann.getByLabel('white pawn')).waitFor();
    await carried.waitFor({ state: 'detached' });
  }),
);

test(
  'board and pieces are chosen, and remembered',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true, reducedMotion: 'reduce' });
    await ann.getByRole('button', { name: 'Board and pieces' }).click();
    const dialog = ann.getByRole('dialog', { name: 'Board and pieces' });
    const square = dialog.locator('.square.dark').first();
    const colour = () => square.evaluate((element) => getComputedStyle(element).fill);
    const seen = new Set();
    for (const name of ['Sea', 'Wood', 'Slate']) {
      await dialog.getByRole('radio', { name }).check();
      await finishAnimations(ann);
      seen.add(await colour());
    }
    assert.equal(seen.size, 3);
    await dialog.getByRole('radio', { name: 'Letters' }).check();
    await dialog.locator('.sign', { hasText: 'K' }).first().waitFor();
    await expectAccessible(ann, 'looks');
    await takeScreenshot(ann, 'looks');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await ann.reload();
    const { board, pieces } = await ann.evaluate(() => ({ ...document.documentElement.dataset }));
    assert.deepEqual([board, pieces], ['slate', 'letters']);
  }),
);

test(
  'moves of chess are listed with figurines if one wishes, and are letters all the same',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true, reducedMotion: 'reduce' });
    await startBotMatch(ann, { game: 'Chess' });
    await playMove(ann, 'g1', 'f3');
    const move = ann.getByRole('button', { name: /^Move 1, White: Nf3/ });
    const seen = () =>
      move
        .locator('[data-figurine]')
        .evaluate((letter) => [
          getComputedStyle(letter).fontSize === '0px',
          getComputedStyle(letter, '::before').content.includes('♘'),
        ]);
    assert.deepEqual(await seen(), [false, false]);
    await ann.getByRole('button', { name: 'Board and pieces' }).click();
    await ann.getByRole('checkbox', { name: 'Figurines in the moves of chess' }).check();
    await ann.getByRole('button', { name: 'Done' }).click();
    assert.deepEqual(await seen(), [true, true]);
    await expectAccessible(ann, 'figurines');
    await takeScreenshot(ann, 'figurines');
    await ann.reload();
    await move.waitFor();
    assert.deepEqual(await seen(), [true, true]);
    const copied = await move.evaluate((button) => {
      getSelection()?.selectAllChildren(button);
      return getSelection()?.toString();
    });
    assert.equal(copied, 'Nf3');
  }),
);

test(
  'what stays on the board is not drawn anew, and what the mouse would do is seen until it does',
  withServer(async (house) => {
    const ann = await house.openPage('/', { reducedMotion: 'reduce' });
    await startBotMatch(ann, { game: 'Othello' });
    await waitForMyTurn(ann);
    await playMove(ann, ...(await legalSquares(ann)).slice(0, 1));
    await waitForMyTurn(ann);
    const before = await ann.evaluateHandle(() => [
      ...document.querySelectorAll('.mark-target, .mark-last'),
    ]);
    assert.ok((await before.evaluate((marks) => marks.length)) > 2);
    const [first = ''] = await legalSquares(ann);
    await cell(ann, first).hover();
    await ann.locator('.ghost').waitFor({ state: 'attached' });
    assert.ok(await before.evaluate((marks) => marks.every(({ isConnected }) => isConnected)));
    await ann.mouse.down();
    assert.equal(await ann.locator('.ghost').count(), 1);
    await ann.mouse.up();
  }),
);
