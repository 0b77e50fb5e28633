// During a match nothing on the page moves, and the whole board is in sight.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  expectNoHorizontalOverflow,
  barButton,
  inviteWithTerms,
  waitForMyTurn,
  playMove,
  playMoves,
  playOtherMove,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const WINDOWS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
  landscape: { width: 844, height: 390 },
  // The desktop window at a zoom of 200%.
  zoomed: { width: 640, height: 400 },
};

/** Elements that must not move. */
const PARTS = [
  ...['.player.above', '.player.below', '.above .clock', '.below .clock'],
  ...['.surface', '.standing', '.lower', '.bar', '.history', '.listed'],
];

const partPositions = (page: Page) =>
  page.evaluate(
    (parts) =>
      parts.map((part) => {
        const box = document.querySelector(part)?.getBoundingClientRect();
        return `${part} ${box?.x} ${box?.y} ${box?.width} ${box?.height}`;
      }),
    PARTS,
  );

/**
 * Checks that the board, the players and the bar are within the window. In landscape format, the
 * page must not be taller than the window.
 */
async function expectInSight(page: Page) {
  const hidden = await page.evaluate(() =>
    [...document.querySelectorAll('.player, .surface, .bar, .standing')]
      .filter((part) => {
        const { top, left, right, bottom } = part.getBoundingClientRect();
        return top < 0 || left < 0 || right > innerWidth || bottom > innerHeight;
      })
      .map(({ className }) => className),
  );
  assert.deepEqual(hidden, []);
  const [height, window, isPortrait] = await page.evaluate(() => [
    document.documentElement.scrollHeight,
    innerHeight,
    innerHeight > innerWidth,
  ]);
  assert.ok(isPortrait || Number(height) <= Number(window), `${height} > ${window}`);
}

/** Share of the window's height that the board takes; in portrait format, of its width. */
const boardShare = (page: Page) =>
  page.evaluate(() => {
    const { width = 0, height = 0 } =
      document.querySelector('.surface')?.getBoundingClientRect() ?? {};
    return innerHeight > innerWidth ? width / innerWidth : height / innerHeight;
  });

const recordLayoutShifts = (page: Page) =>
  page.evaluate(() => {
    const shifts: string[] = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as any[]) {
        for (const { node, previousRect: before, currentRect: after } of entry.sources) {
          const { x, y } = before;
          shifts.push(
            `${node?.parentNode?.className} ${node?.className} ${node?.textContent} ${x},${y} -> ${after.x},${after.y} ${after.width}`,
          );
        }
      }
    }).observe({ type: 'layout-shift' });
    Object.assign(globalThis, { shifts });
  });

/** Returns the layout shifts since the last call. */
const takeShifts = (page: Page): Promise<string[]> => page.evaluate('shifts.splice(0)');

/** Waits until pending changes are drawn and their layout shifts are recorded. */
const waitForPaint = (page: Page) =>
  page.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))),
      ),
  );

for (const [size, viewport] of selectVariants(Object.entries(WINDOWS), 'phone', 'landscape')) {
  test(
    `nothing moves during a whole match: ${size}`,
    withServer(async (harness) => {
      const ann = await harness.openPage('/', { viewport, reducedMotion: 'reduce' });
      const clock = { kind: 'fischer', main_ms: 180_000, increment_ms: 3000 };
      const bob = await harness.openPage(await inviteWithTerms(ann, { clock }, 'Chess'), {
        viewport,
      });
      const pages = [ann, bob];
      await waitForMyTurn(ann);
      await waitForStatus(bob, 'is to move.');
      const before = await Promise.all(pages.map(partPositions));
      const expectUnmoved = async (after: string) =>
        assert.deepEqual(await Promise.all(pages.map(partPositions)), before, after);
      for (const page of pages) {
        await expectInSight(page);
        await expectNoHorizontalOverflow(page);
        await recordLayoutShifts(page);
        assert.ok((await boardShare(page)) > 0.8);
      }
      const moves = 'e2-e4 e7-e5 d1-h5 b8-c6 f1-c4 g8-f6'.split(' ');
      for (const [at, move] of moves.entries()) {
        await playMove(at % 2 === 0 ? ann : bob, ...move.split('-'));
        await expectUnmoved(move);
      }
      assert.deepEqual(await Promise.all(pages.map(takeShifts)), [[], []]);
      await barButton(bob, 'Offer a draw').click();
      await barButton(bob, 'Take back').click();
      await ann.getByRole('button', { name: 'Accept' }).nth(1).waitFor();
      await expectUnmoved('two offers');
      await expectInSight(ann);
      await takeScreenshot(ann, `two-offers-${size}`);
      await barButton(ann, 'Resign …').click();
      await expectUnmoved('the confirmation of a resignation');
      await ann.keyboard.press('Escape');
      // Discards the layout shifts of the offers and the confirmation.
      await Promise.all(pages.map(waitForPaint));
      await Promise.all(pages.map(takeShifts));
      await playMove(ann, 'h5', 'f7');
      await waitForStatus(ann, 'You win!');
      await waitForStatus(bob, 'You lose.');
      await expectUnmoved('the end');
      assert.deepEqual(await Promise.all(pages.map(takeShifts)), [[], []]);
      await takeScreenshot(bob, `lost-${size}`);
      await ann.keyboard.press('ArrowLeft');
      await waitForStatus(ann, 'After 6 of 7 moves.');
      await expectUnmoved('a step back');
      // The analysis panel is beside the board, and comments on moves do not move anything.
      await bob.getByRole('button', { name: 'Analyse' }).first().click();
      const panel = bob.getByRole('region', { name: 'Analysis' });
      await panel.getByText(/accuracy/).waitFor();
      assert.deepEqual((await partPositions(bob)).slice(0, -2), before[1]?.slice(0, -2));
      const withPanel = await partPositions(bob);
      await bob.keyboard.press('ArrowLeft');
      await waitForStatus(bob, 'After 6 of 7 moves.');
      await panel.getByText('Blunder').waitFor();
      assert.deepEqual(await partPositions(bob), withPanel);
      await bob
        .locator('.why', {
          hasText: /^Blunder\. .* would have (been better|held the draw|held out longer)\.$/,
        })
        .waitFor();
      await expectInSight(bob);
      await expectNoHorizontalOverflow(bob);
      await takeScreenshot(bob, `analysed-${size}`);
    }),
  );
}

test(
  'the pass button is in sight if a pass is the only legal move',
  withServer(async (harness) => {
    const viewport = { width: 390, height: 844 };
    const ann = await harness.openPage('/', { viewport });
    const bob = await harness.openPage(await inviteWithTerms(ann, {}, 'Othello'), { viewport });
    await waitForMyTurn(ann);
    const before = await partPositions(ann);
    await playMoves(ann, bob, 'd3 c3 b3 b2 f5 a3 a1 c1');
    await waitForMyTurn(ann);
    const pass = ann.getByRole('button', { name: 'Pass' });
    await pass.and(ann.locator('.primary')).waitFor();
    await expectInSight(ann);
    assert.deepEqual(await partPositions(ann), before);
    await takeScreenshot(ann, 'has-to-pass');
    await playOtherMove(ann, 'Pass');
  }),
);

test(
  'with reduced motion, a change of layout takes effect at once',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { reducedMotion: 'reduce' });
    const [padding, moving] = await ann.evaluate(() => {
      const main = document.querySelector('main') as HTMLElement;
      document.documentElement.classList.add('at-match');
      return [getComputedStyle(main).padding, document.getAnimations().length];
    });
    assert.equal(padding, '0px');
    assert.equal(moving, 0);
  }),
);
