// How a match has ended, over the board or beside it: all that one may do next at a glance, by mouse and by keyboard.

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

const result = (page: Page, headline: string) => page.getByRole('region', { name: headline });

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

const WINDOWS = {
  phone: { width: 390, height: 844 },
  lying: { width: 844, height: 390 },
  desktop: { width: 1280, height: 800 },
};

for (const [size, viewport] of selectVariants(Object.entries(WINDOWS), 'phone')) {
  test(
    `how it ended is told, with what one may do next: ${size}`,
    withServer(async (house) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await house.openPage('/', options);
      const bob = await house.openPage(await inviteFriend(ann, 'Connect Four'), options);
      await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
      const [won, lost] = [result(ann, 'You win!'), result(bob, 'You lose.')];
      await won.getByText('Four in a row.').waitFor();
      const buttons = ['Rematch', 'Analyse', 'Share'];
      for (const name of buttons) await lost.getByRole('button', { name, exact: true }).waitFor();
      const inside = await lost.evaluate((card) => {
        const all = [...card.querySelectorAll('h2, p, button, a')];
        const parts = all.filter((part) => part.clientHeight > 0);
        const { top, bottom } = card.getBoundingClientRect();
        const isWithin = (part: DOMRect) =>
          top >= 0 && part.top >= top && part.bottom <= bottom && bottom <= innerHeight;
        return parts.every((part) => isWithin(part.getBoundingClientRect()));
      });
      assert.ok(inside);
      await expectNoHorizontalOverflow(bob);
      await expectAccessible(bob, 'the end');
      await takeScreenshot(bob, `end-${size}`);
      // Whoever is about to answer finds the button where it was.
      const place = () => lost.getByRole('button', { name: 'Rematch' }).boundingBox();
      const before = await place();
      await won.getByRole('button', { name: 'Rematch' }).click();
      await lost.getByText(/ wants to play again, sides swapped\.$/).waitFor();
      await won.getByText(/^Waiting for .* to accept\.$/).waitFor();
      assert.deepEqual(await place(), before);
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
    `how it ended covers nothing of the line that has won: ${size}`,
    withServer(async (house) => {
      const options = { viewport, reducedMotion: 'reduce' as const };
      const ann = await house.openPage('/', options);
      const bob = await house.openPage('/', options);
      for (const [game, way, line, played] of LINES) {
        await bob.goto(await inviteFriend(ann, game));
        await playMoves(ann, bob, played);
        const won = result(ann, 'You win!');
        const covers = await won.evaluate((card, squares) => {
          const covered = card.getBoundingClientRect();
          return squares.filter((square) => {
            const cell = document.querySelector(`[data-square=${square}][role=gridcell]`);
            const { top, bottom, left, right } = cell?.getBoundingClientRect() ?? covered;
            return (
              covered.top < bottom &&
              top < covered.bottom &&
              covered.left < right &&
              left < covered.right
            );
          });
        }, line.split(' '));
        assert.deepEqual(covers, [], `${game}: ${way}`);
        await expectNoHorizontalOverflow(ann);
        await takeScreenshot(ann, `line-${size}-${game}-${way}`.replaceAll(' ', '-'));
        await won.getByRole('link', { name: 'To the lobby' }).click();
      }
    }),
  );
}

test(
  'how it ended is put away, and what comes next is reached, by keyboard',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Connect Four'));
    await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1');
    await waitForStatus(ann, 'Your turn.');
    await ann.keyboard.press('4');
    const won = result(ann, 'You win!');
    await won.waitFor();
    await ann.keyboard.press('Tab');
    assert.equal(await focused(ann), 'Rematch');
    await ann.keyboard.press('Tab');
    assert.equal(await focused(ann), 'Analyse');
    await ann.keyboard.press('Escape');
    await won.waitFor({ state: 'hidden' });
    // The keyboard is on the board again, and steps back through the moves.
    assert.ok(await ann.evaluate(() => document.activeElement?.matches('.board *')));
    await ann.keyboard.press('Home');
    await waitForStatus(ann, 'After 0 of 7 moves.');
  }),
);
