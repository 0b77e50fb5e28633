// The result panel of an ended match: its contents, its position and its use by keyboard.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  expectNoHorizontalOverflow,
  inviteFriend,
  expectAccessible,
  playMoves,
  waitForStatus,
  waitForSameUrl,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const resultPanel = (page: Page, headline: string) => page.getByRole('region', { name: headline });

const focusedText = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

const WINDOWS = {
  phone: { width: 390, height: 844 },
  landscape: { width: 844, height: 390 },
  desktop: { width: 1280, height: 800 },
};

for (const [size, viewport] of selectVariants(Object.entries(WINDOWS), 'phone')) {
  test(
    `the result panel shows the result and the next actions: ${size}`,
    withServer(async (harness) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await harness.openPage('/', options);
      const bob = await harness.openPage(await inviteFriend(ann, 'Connect Four'), options);
      await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
      const [won, lost] = [resultPanel(ann, 'You win!'), resultPanel(bob, 'You lose.')];
      await won.getByText('Four in a row.').waitFor();
      const buttons = ['Rematch', 'Analyse', 'Share'];
      for (const name of buttons) await lost.getByRole('button', { name, exact: true }).waitFor();
      const isInSight = await lost.evaluate((card) => {
        const all = [...card.querySelectorAll('h2, p, button, a')];
        const parts = all.filter((part) => part.clientHeight > 0);
        const { top, bottom } = card.getBoundingClientRect();
        const isWithin = (part: DOMRect) =>
          top >= 0 && part.top >= top && part.bottom <= bottom && bottom <= innerHeight;
        return parts.every((part) => isWithin(part.getBoundingClientRect()));
      });
      assert.ok(isInSight);
      await expectNoHorizontalOverflow(bob);
      await expectAccessible(bob, 'the end');
      await takeScreenshot(bob, `end-${size}`);
      // An offer of the opponent does not move the button.
      const buttonBox = () => lost.getByRole('button', { name: 'Rematch' }).boundingBox();
      const before = await buttonBox();
      await won.getByRole('button', { name: 'Rematch' }).click();
      await lost.getByText(/ wants to play again, sides swapped\.$/).waitFor();
      await won.getByText(/^Waiting for .* to accept\.$/).waitFor();
      assert.deepEqual(await buttonBox(), before);
      await lost.getByRole('button', { name: 'Rematch' }).click();
      await waitForSameUrl(ann, bob);
      await waitForStatus(bob, 'Your turn.');
      assert.equal(await lost.isVisible(), false);
    }),
  );
}

const LINES = [
  ['Tic-tac-toe', 'upper row', 'a3 b3 c3', 'a3 a1 b3 b1 c3'],
  ['Tic-tac-toe', 'lower row', 'a1 b1 c1', 'a1 a3 b1 b3 c1'],
  ['Tic-tac-toe', 'column', 'b1 b2 b3', 'b1 a1 b2 a2 b3'],
  ['Connect Four', 'column', 'd1 d2 d3 d4', 'd1 c1 d1 c1 d1 c1 d1'],
  ['Connect Four', 'high column', 'a3 a4 a5 a6', 'b1 a1 c1 a1 a1 b1 a1 b1 a1 g1 a1'],
  ['Connect Four', 'diagonal', 'b1 c2 d3 e4', 'b1 c1 c1 d1 d1 e1 d1 e1 e1 g1 e1'],
] as const;

for (const [size, viewport] of selectVariants(Object.entries(WINDOWS), 'phone')) {
  test(
    `the result panel does not cover the winning line: ${size}`,
    withServer(async (harness) => {
      const options = { viewport, reducedMotion: 'reduce' as const };
      const ann = await harness.openPage('/', options);
      const bob = await harness.openPage('/', options);
      for (const [game, shape, line, moves] of LINES) {
        await bob.goto(await inviteFriend(ann, game));
        await playMoves(ann, bob, moves);
        const won = resultPanel(ann, 'You win!');
        const covered = await won.evaluate((card, squares) => {
          const panel = card.getBoundingClientRect();
          return squares.filter((square) => {
            const cell = document.querySelector(`[data-square=${square}][role=gridcell]`);
            const { top, bottom, left, right } = cell?.getBoundingClientRect() ?? panel;
            return (
              panel.top < bottom && top < panel.bottom && panel.left < right && left < panel.right
            );
          });
        }, line.split(' '));
        assert.deepEqual(covered, [], `${game}: ${shape}`);
        await expectNoHorizontalOverflow(ann);
        await takeScreenshot(ann, `line-${size}-${game}-${shape}`.replaceAll(' ', '-'));
        await won.getByRole('link', { name: 'To the lobby' }).click();
      }
    }),
  );
}

test(
  'the buttons of the result panel can be reached, and the panel can be closed, by keyboard',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Connect Four'));
    await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1');
    await waitForStatus(ann, 'Your turn.');
    await ann.keyboard.press('4');
    const won = resultPanel(ann, 'You win!');
    await won.waitFor();
    await ann.keyboard.press('Tab');
    assert.equal(await focusedText(ann), 'Rematch');
    await ann.keyboard.press('Tab');
    assert.equal(await focusedText(ann), 'Analyse');
    await ann.keyboard.press('Escape');
    await won.waitFor({ state: 'hidden' });
    // The board has the focus again, and keys step through the moves.
    assert.ok(await ann.evaluate(() => document.activeElement?.matches('.board *')));
    await ann.keyboard.press('Home');
    await waitForStatus(ann, 'After 0 of 7 moves.');
  }),
);
