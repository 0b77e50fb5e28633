// Plays each game on the page and checks the features that are specific to it.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  expectAccessible,
  legalSquares,
  waitForMyTurn,
  playMove,
  playMoves,
  startBotMatch,
  playAndWait,
  playOtherMove,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { TestHarness, Page } from './support.ts';

after(closeBrowser);

/** Starts a match between two pages. The first page moves first. */
async function startMatch(harness: TestHarness, game: string) {
  const first = await harness.openPage();
  const second = await harness.openPage(await inviteFriend(first, game));
  await waitForMyTurn(first);
  return [first, second] as const;
}

async function cellCenter(page: Page, square: string) {
  const box = await cell(page, square).boundingBox();
  assert.ok(box);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(page: Page, from: string, to: string) {
  const [start, end] = [await cellCenter(page, from), await cellCenter(page, to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 3 });
  await page.mouse.move(end.x, end.y, { steps: 3 });
  await page.mouse.up();
}

const waitForReason = (page: Page, text: string | RegExp) =>
  page.locator('.why', { hasText: text }).waitFor();

test(
  'chess can be played by dragging, by clicking and by keyboard',
  withServer(async (harness) => {
    const [ann, bob] = await startMatch(harness, 'Chess');
    await playAndWait(ann, () => drag(ann, 'f2', 'f3'));
    await ann.getByRole('gridcell', { name: 'f3, white pawn, last move' }).waitFor();

    // Black sees the board from the other side.
    assert.ok((await cellCenter(ann, 'a1')).y > (await cellCenter(ann, 'a8')).y);
    assert.ok((await cellCenter(bob, 'a1')).y < (await cellCenter(bob, 'a8')).y);
    assert.ok((await cellCenter(bob, 'a1')).x > (await cellCenter(bob, 'h1')).x);
    await bob.getByRole('button', { name: 'Flip the board' }).click();
    assert.ok((await cellCenter(bob, 'a1')).y > (await cellCenter(bob, 'a8')).y);
    await bob.getByRole('button', { name: 'Flip the board' }).click();

    // Arrow keys move the focus in their direction on the screen.
    await playAndWait(bob, async () => {
      await cell(bob, 'e7').focus();
      await bob.keyboard.press('Enter');
      await bob.getByRole('gridcell', { name: 'e7, black pawn, picked up' }).waitFor();
      await bob.getByRole('gridcell', { name: 'e5, empty, can go here' }).waitFor();
      await bob.keyboard.press('Escape');
      await bob.getByRole('gridcell', { name: 'e7, black pawn', exact: true }).waitFor();
      await bob.keyboard.press('Enter');
      await bob.keyboard.press('ArrowUp');
      await bob.keyboard.press('ArrowUp');
      await bob.locator('[data-square=e5]:focus').waitFor();
      await bob.keyboard.press('Enter');
    });
    await ann.locator('#heard', { hasText: 'plays pawn e7 to e5.' }).waitFor({ state: 'attached' });

    // A piece that is dropped on an illegal square returns to its origin.
    await waitForMyTurn(ann);
    await drag(ann, 'g2', 'g6');
    await ann.getByRole('gridcell', { name: 'g2, white pawn', exact: true }).waitFor();
    await playMove(ann, 'g2', 'g4');
    await playMove(bob, 'd8', 'h4');
    await waitForStatus(bob, 'You win!');
    await waitForReason(ann, 'Checkmate.');
    await ann.getByRole('gridcell', { name: 'e1, white king, in check' }).waitFor();
    await takeScreenshot(bob, 'chess-mate');
    // The move list has algebraic notation, and earlier positions mark a check, too.
    await bob.getByRole('button', { name: 'Qh4#' }).waitFor();
    await ann.getByRole('button', { name: 'g4', exact: false }).first().click();
    await ann.getByRole('gridcell', { name: 'e1, white king', exact: true }).waitFor();
    await ann.getByRole('button', { name: 'Qh4#' }).click();
    await ann.getByRole('gridcell', { name: 'e1, white king, in check' }).waitFor();
  }),
);

test(
  'a pawn is promoted to the chosen piece, and captured pieces are shown',
  withServer(async (harness) => {
    const [ann, bob] = await startMatch(harness, 'Chess');
    await playMoves(ann, bob, 'h2-h4 g7-g5 h4-g5 h7-h6 g5-h6 a7-a6 h6-h7 a6-a5');
    await ann.locator('.tally', { hasText: 'has taken 2 pawns' }).waitFor();
    await waitForMyTurn(ann);
    await cell(ann, 'h7').click();
    await cell(ann, 'g8').click();
    const dialog = ann.getByRole('dialog', { name: 'Which one shall it be?' });
    await dialog.getByRole('button', { name: 'Queen' }).and(ann.locator(':focus')).waitFor();
    await takeScreenshot(ann, 'promotion');
    await ann.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    // A takeback closes the dialog.
    await barButton(ann, 'Take back').click();
    await cell(ann, 'h7').click();
    await cell(ann, 'g8').click();
    await dialog.waitFor();
    await bob.getByRole('button', { name: 'Accept' }).click();
    await dialog.waitFor({ state: 'detached' });
    await playMoves(ann, bob, 'h6-h7 a6-a5');
    await playAndWait(ann, async () => {
      await drag(ann, 'h7', 'g8');
      await dialog.getByRole('button', { name: 'Knight' }).click();
    });
    await bob.getByRole('gridcell', { name: 'g8, white knight, last move' }).waitFor();
    await ann.locator('.tally', { hasText: 'has taken knight, 2 pawns' }).waitFor();
    assert.equal(await bob.locator('.tally:visible').count(), 1);
  }),
);

test(
  'draughts: captures are mandatory and can have several steps',
  withServer(async (harness) => {
    const [ann, bob] = await startMatch(harness, 'Draughts');
    await playMoves(ann, bob, '9-13 21-17 6-9 17-14');
    await waitForReason(ann, 'You have to capture.');
    assert.equal(await ann.locator('.mark-mover').count(), 2);
    await takeScreenshot(ann, 'draughts');
    await playMove(ann, '9', '18');
    await waitForMyTurn(bob);
    await cell(bob, '22').click();
    await bob.getByRole('gridcell', { name: '15, empty, can go here' }).waitFor();
    await bob.locator('.mark-target').nth(1).waitFor();
    await playMove(bob, '6');
    await ann.getByRole('gridcell', { name: '6, white man, last move' }).waitFor();
    await ann.getByRole('gridcell', { name: '18, empty', exact: true }).waitFor();
    await bob.locator('.tally', { hasText: 'has captured 2' }).waitFor();
  }),
);

test(
  'Othello: a player without a legal move has to pass',
  withServer(async (harness) => {
    const [ann, bob] = await startMatch(harness, 'Othello');
    assert.deepEqual((await legalSquares(ann)).sort(), ['c4', 'd3', 'e6', 'f5']);
    // Both players see rank 1 at the top.
    for (const page of [ann, bob]) {
      assert.ok((await cellCenter(page, 'a1')).y < (await cellCenter(page, 'a8')).y);
    }
    await playMoves(ann, bob, 'd3 c3 b3 b2 f5 a3 a1 c1');
    await waitForReason(ann, 'You cannot move: you have to pass.');
    await takeScreenshot(ann, 'othello-pass');
    await playOtherMove(ann, 'Pass');
    await bob.locator('#heard', { hasText: /guest-\w+ passes\./ }).waitFor({ state: 'attached' });
    await waitForReason(bob, 'passed.');
    await ann.locator('.tally', { hasText: '8 discs' }).waitFor();
  }),
);

test(
  'Othello: the discs are counted at the end',
  withServer(async (harness) => {
    const [ann, bob] = await startMatch(harness, 'Othello');
    await playMoves(ann, bob, 'd3 c3 b3 d2 e1 d6 d7 e3 f4');
    await waitForStatus(ann, 'You win!');
    await waitForReason(bob, 'Black 64, White 0.');
  }),
);

test(
  'every game marks the last move by shape, also in a winning line',
  withServer(async (harness) => {
    const [ann, bob] = [await harness.openPage(), await harness.openPage()];
    for (const [game, moves, marks, hasLine] of [
      ['Tic-tac-toe', 'a1 b1 a2 b2 a3', 1, true],
      ['Connect Four', 'd1 d1 e1 e1 f1 f1 g1', 1, true],
      ['Othello', 'd3', 1, false],
      ['Draughts', '9-13', 2, false],
      ['Chess', 'e2-e4', 2, false],
      ['Gomoku', 'h8 a1 i8 b1 j8 c1 k8 d1 l8', 1, true],
      ['Go', 'E5', 1, false],
    ] as const) {
      await bob.goto(await inviteFriend(ann, game));
      await waitForMyTurn(ann);
      await playMoves(ann, bob, moves);
      const marked = ann.locator('.mark-last:visible');
      await marked.nth(marks - 1).waitFor();
      assert.equal(await marked.count(), marks, game);
      if (hasLine) await waitForStatus(ann, 'You win!');
      assert.equal((await ann.locator('.mark-line').count()) > 0, hasLine, game);
      assert.equal(await ann.locator('.mark-last.in-line').count(), hasLine ? 1 : 0, game);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
    }
  }),
);

test(
  'Go: stones are captured, and two passes end the match',
  withServer(async (harness) => {
    const [ann, bob] = await startMatch(harness, 'Go');
    await playMoves(ann, bob, 'A2 A1 J9 B2 B1');
    await bob.getByRole('gridcell', { name: 'A1, empty', exact: true }).waitFor();
    await ann.locator('.tally', { hasText: '1 captured' }).waitFor();
    await playOtherMove(bob, 'Pass');
    await waitForReason(ann, 'If you pass, too, the match ends');
    await playOtherMove(ann, 'Pass');
    await waitForReason(
      ann,
      /Black \d+, White \d+\. All stones on the board counted, and White has 7 for moving second\./,
    );
    await takeScreenshot(ann, 'go');
  }),
);

test(
  'Gomoku: five stones in a row are marked',
  withServer(async (harness) => {
    const [ann, bob] = await startMatch(harness, 'Gomoku');
    await playMoves(ann, bob, 'h8 a1 i8 b1 j8 c1 k8 d1 l8');
    await waitForStatus(ann, 'You win!');
    await waitForReason(bob, 'Five in a row.');
    await bob.getByRole('gridcell', { name: 'l8, black, last move, winning line' }).waitFor();
    assert.equal(await bob.locator('.mark-line').count(), 5);
  }),
);

for (const theme of selectVariants(['light', 'dark'] as const, 'dark')) {
  test(
    `the larger boards fit a phone and are accessible: ${theme}`,
    withServer(async (harness) => {
      const page = await harness.openPage('/', {
        viewport: { width: 320, height: 640 },
        colorScheme: theme,
        reducedMotion: 'reduce',
        axe: true,
      });
      for (const game of ['Chess', 'Draughts', 'Othello', 'Go', 'Gomoku']) {
        await inviteFriend(page, game);
        await page.getByRole('button', { name: 'Add bot' }).click();
        await waitForMyTurn(page);
        await expectNoHorizontalOverflow(page);
        // The board is square.
        const box = await page.locator('.surface').boundingBox();
        assert.ok(box && Math.abs(box.width - box.height) < 1, JSON.stringify(box));
        await expectAccessible(page, game);
        await takeScreenshot(page, `${game}-phone-${theme}`);
        await page.getByRole('link', { name: 'Plyhouse' }).click();
      }
    }),
  );
}

test(
  'on a touch screen with small points, a second tap confirms the move',
  withServer(async (harness) => {
    const page = await harness.openPage('/', {
      viewport: { width: 320, height: 640 },
      hasTouch: true,
      isMobile: true,
    });
    await inviteFriend(page, 'Gomoku');
    await page.getByRole('button', { name: 'Add bot' }).tap();
    await waitForMyTurn(page);
    await cell(page, 'h9').tap();
    await page.locator('.ghost').waitFor();
    await cell(page, 'h8').tap();
    await cell(page, 'h8').tap();
    await page.getByRole('gridcell', { name: /^h8, black/ }).waitFor();
    // The bot may have played there.
    await page.getByRole('gridcell', { name: /^h9, (empty|white)/ }).waitFor();
  }),
);

test(
  'a match can be downloaded if its game has a record format',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await page.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      server.onMessage((text) => {
        const message = JSON.parse(String(text));
        for (const game of message.games ?? []) {
          if (game.game === 'othello') game.record = 'sgf';
          else delete game.record;
        }
        socket.send(JSON.stringify(message));
      });
    });
    await page.reload();
    for (const [game, square, linkCount] of [
      ['Othello', 'd3', 1],
      ['Tic-tac-toe', 'b2', 0],
    ] as const) {
      await startBotMatch(page, { game });
      const link = page.getByRole('link', { name: 'Download as SGF' });
      assert.equal(await link.count(), linkCount);
      const icon = linkCount > 0 ? await link.locator('svg').elementHandle() : null;
      await playMove(page, square);
      await waitForMyTurn(page);
      assert.ok(!icon || (await icon.evaluate((element) => element.isConnected)));
      if (linkCount > 0) {
        assert.match((await link.getAttribute('href')) ?? '', /^\/record\/[-0-9a-f]{36}\.sgf$/);
        const download = page.waitForEvent('download');
        await link.click();
        assert.match((await download).suggestedFilename(), /^plyhouse-[0-9A-Z]{6}\.sgf$/);
        await page.getByRole('link', { name: 'Download as SGF' }).waitFor();
      }
      await page.getByRole('link', { name: 'Plyhouse' }).click();
    }
  }),
);

test(
  'a check is announced to screen readers',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playMoves(ann, bob, 'e2-e4 f7-f5 d1-h5');
    const announcement = bob.locator('#heard', {
      hasText: /plays queen d1 to h5\. Check\. Your turn\./,
    });
    await announcement.waitFor({ state: 'attached' });
  }),
);

test(
  'the pass button is secondary until the opponent has passed',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { viewport: { width: 390, height: 844 }, axe: true });
    const bob = await harness.openPage(await inviteFriend(ann, 'Go'));
    await waitForMyTurn(ann);
    const pass = (page: Page) => page.getByRole('button', { name: 'Pass' });
    assert.ok(await pass(ann).and(ann.locator('.seldom')).isVisible());
    await expectAccessible(ann, 'the first move');
    await takeScreenshot(ann, 'go-first-move');
    await playOtherMove(ann, 'Pass');
    await waitForMyTurn(bob);
    assert.equal(await pass(bob).and(bob.locator('.seldom')).count(), 0);
  }),
);
