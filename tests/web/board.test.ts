// Tests the board: arrow keys, drawn arrows, dragging by touch, and the choice of board, pieces and
// figurines.

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

async function getSquareCentre(page: Page, square: string) {
  const box = await cell(page, square).boundingBox();
  assert.ok(box, square);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Draws an arrow with the right mouse button, or a circle if both squares are the same. */
async function drawShape(page: Page, from: string, to: string) {
  const [start, end] = [await getSquareCentre(page, from), await getSquareCentre(page, to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down({ button: 'right' });
  await page.mouse.move(end.x, end.y);
  await page.mouse.up({ button: 'right' });
}

test(
  'the board of tic-tac-toe shows coordinates',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await startBotMatch(page);
    await waitForMyTurn(page);
    const numbers = await page.locator('.surface .number').allTextContents();
    assert.equal(numbers.join(' '), '3 2 1 a b c');
  }),
);

test(
  'arrow keys step through the moves after a click, and between squares during keyboard play',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playMoves(ann, bob, 'e2-e4 e7-e5');
    await waitForMyTurn(ann);
    // A click focuses the board.
    await cell(ann, 'd5').click({ force: true });
    await ann.keyboard.press('ArrowLeft');
    await waitForStatus(ann, 'After 1 of 2 moves.');
    await ann.keyboard.press('ArrowRight');
    await waitForMyTurn(ann);
    // The keyboard places a piece that was selected by mouse.
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
  'arrows and circles are drawn with the right button, and disappear with the next move',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    const drawn = ann.locator('.drawn');
    await drawShape(ann, 'g1', 'f3');
    await drawShape(ann, 'e5', 'e5');
    assert.equal(await drawn.count(), 2);
    assert.equal(await ann.locator('.drawn.arrow').count(), 1);
    assert.equal(await bob.locator('.drawn').count(), 0);
    await takeScreenshot(ann, 'drawn');
    // Drawing a shape again removes it. A click removes all shapes.
    await drawShape(ann, 'e5', 'e5');
    assert.equal(await drawn.count(), 1);
    await cell(ann, 'd5').click({ force: true });
    assert.equal(await drawn.count(), 0);
    await drawShape(ann, 'g1', 'f3');
    await ann.keyboard.press('e');
    await drawShape(ann, 'b1', 'c3');
    assert.equal(await drawn.count(), 2);
    assert.equal(await countMoves(ann), 0);
    await playMove(ann, 'e2', 'e4');
    assert.equal(await drawn.count(), 0);
  }),
);

test(
  'a touch screen shows no keyboard cursor until a key is pressed',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const link = await inviteFriend(ann, 'Connect Four');
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const bob = await harness.openPage(link, phone);
    await playMove(ann, 'd1');
    await waitForMyTurn(bob);
    const focusedCell = bob.locator('[role=gridcell]:focus');
    await focusedCell.waitFor();
    const readOutline = () => focusedCell.evaluate((cell) => getComputedStyle(cell).outlineStyle);
    const ghost = bob.locator('.picture .ghost');
    assert.equal(await readOutline(), 'none');
    assert.equal(await ghost.count(), 0);
    await takeScreenshot(bob, 'touched');
    // The first key only shows the cursor.
    await bob.keyboard.press('Enter');
    await ghost.waitFor();
    assert.equal(await readOutline(), 'solid');
    assert.equal(await countMoves(bob), 1);
    await bob.keyboard.press('ArrowRight');
    await bob.keyboard.press('Enter');
    await cell(bob, 'e1')
      .and(bob.getByLabel(/yellow|red/))
      .waitFor();
  }),
);

test(
  'a piece dragged by touch appears above the finger, and its target square is marked',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
    await harness.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    const [from, to] = [await getSquareCentre(ann, 'd2'), await getSquareCentre(ann, 'd4')];
    const session = await ann.context().newCDPSession(ann);
    const touch = (
      type: 'touchStart' | 'touchMove' | 'touchEnd',
      ...touchPoints: { x: number; y: number }[]
    ) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
    await touch('touchStart', from);
    await touch('touchMove', { x: from.x, y: from.y - 20 });
    await touch('touchMove', to);
    const draggedPiece = ann.locator('.carried.lifted');
    await draggedPiece.waitFor();
    await ann.locator('.square.aim[data-square=d4]').waitFor();
    const box = await draggedPiece.boundingBox();
    assert.ok(box && box.y + box.height / 2 < to.y - 20, JSON.stringify(box));
    await takeScreenshot(ann, 'lifted');
    await touch('touchEnd');
    await cell(ann, 'd4').and(ann.getByLabel('white pawn')).waitFor();
    await draggedPiece.waitFor({ state: 'detached' });
  }),
);

test(
  'the chosen board and pieces are remembered',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true, reducedMotion: 'reduce' });
    await ann.getByRole('button', { name: 'Board and pieces' }).click();
    const dialog = ann.getByRole('dialog', { name: 'Board and pieces' });
    const square = dialog.locator('.square.dark').first();
    const readColour = () => square.evaluate((element) => getComputedStyle(element).fill);
    const colours = new Set();
    for (const name of ['Sea', 'Wood', 'Slate']) {
      await dialog.getByRole('radio', { name }).check();
      await finishAnimations(ann);
      colours.add(await readColour());
    }
    assert.equal(colours.size, 3);
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
  'chess moves can be listed with figurines, and are copied as letters',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true, reducedMotion: 'reduce' });
    await startBotMatch(ann, { game: 'Chess' });
    await playMove(ann, 'g1', 'f3');
    const move = ann.getByRole('button', { name: /^Move 1, White: Nf3/ });
    const readFigurine = () =>
      move
        .locator('[data-figurine]')
        .evaluate((letter) => [
          getComputedStyle(letter).fontSize === '0px',
          getComputedStyle(letter, '::before').content.includes('♘'),
        ]);
    assert.deepEqual(await readFigurine(), [false, false]);
    await ann.getByRole('button', { name: 'Board and pieces' }).click();
    await ann.getByRole('checkbox', { name: 'Figurines in the moves of chess' }).check();
    await ann.getByRole('button', { name: 'Done' }).click();
    assert.deepEqual(await readFigurine(), [true, true]);
    await expectAccessible(ann, 'figurines');
    await takeScreenshot(ann, 'figurines');
    await ann.reload();
    await move.waitFor();
    assert.deepEqual(await readFigurine(), [true, true]);
    const copied = await move.evaluate((button) => {
      getSelection()?.selectAllChildren(button);
      return getSelection()?.toString();
    });
    assert.equal(copied, 'Nf3');
  }),
);

test(
  'marks that stay are not drawn again, and the preview of a move stays until it is played',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { reducedMotion: 'reduce' });
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
