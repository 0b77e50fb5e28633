// Nothing on the page moves while a match goes on, and the whole board is to be seen.

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
  // The desktop at 200 %.
  zoomed: { width: 640, height: 400 },
};

/** What stays where it is. */
const PARTS = [
  ...['.player.above', '.player.below', '.above .clock', '.below .clock'],
  ...['.surface', '.standing', '.lower', '.bar', '.history', '.listed'],
];

/** Where it is. */
const places = (page: Page) =>
  page.evaluate(
    (parts) =>
      parts.map((part) => {
        const box = document.querySelector(part)?.getBoundingClientRect();
        return `${part} ${box?.x} ${box?.y} ${box?.width} ${box?.height}`;
      }),
    PARTS,
  );

/**
 * The board, the players and the bar are within the window, beside whatever else there is: where the board has its
 * own column, the page is no taller than the window.
 */
async function isInSight(page: Page) {
  const out = await page.evaluate(() =>
    [...document.querySelectorAll('.player, .surface, .bar, .standing')]
      .filter((part) => {
        const { top, left, right, bottom } = part.getBoundingClientRect();
        return top < 0 || left < 0 || right > innerWidth || bottom > innerHeight;
      })
      .map(({ className }) => className),
  );
  assert.deepEqual(out, []);
  const [height, window, isHigh] = await page.evaluate(() => [
    document.documentElement.scrollHeight,
    innerHeight,
    innerHeight > innerWidth,
  ]);
  assert.ok(isHigh || Number(height) <= Number(window), `${height} > ${window}`);
}

/** How much of the window's height is the board; of its width, where that is less. */
const share = (page: Page) =>
  page.evaluate(() => {
    const { width = 0, height = 0 } =
      document.querySelector('.surface')?.getBoundingClientRect() ?? {};
    return innerHeight > innerWidth ? width / innerWidth : height / innerHeight;
  });

/** Counts from now on how much is moved about, by the browser's own measure. */
const watchShifts = (page: Page) =>
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

/** What was moved since it was asked last. */
const shifts = (page: Page): Promise<string[]> => page.evaluate('shifts.splice(0)');

/** Waits until what has changed by now is drawn, and counted if it was moved. */
const drawn = (page: Page) =>
  page.evaluate(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))),
      ),
  );

for (const [size, viewport] of selectVariants(Object.entries(WINDOWS), 'phone', 'landscape')) {
  test(
    `nothing moves over a whole match: ${size}`,
    withServer(async (house) => {
      const ann = await house.openPage('/', { viewport, reducedMotion: 'reduce' });
      const clock = { kind: 'fischer', main_ms: 180_000, increment_ms: 3000 };
      const bob = await house.openPage(await inviteWithTerms(ann, { clock }, 'Chess'), {
        viewport,
      });
      const pages = [ann, bob];
      await waitForMyTurn(ann);
      await waitForStatus(bob, 'is to move.');
      const before = await Promise.all(pages.map(places));
      const stay = async (after: string) =>
        assert.deepEqual(await Promise.all(pages.map(places)), before, after);
      for (const page of pages) {
        await isInSight(page);
        await expectNoHorizontalOverflow(page);
        await watchShifts(page);
        assert.ok((await share(page)) > 0.8);
      }
      const moves = 'e2-e4 e7-e5 d1-h5 b8-c6 f1-c4 g8-f6'.split(' ');
      for (const [at, move] of moves.entries()) {
        await playMove(at % 2 === 0 ? ann : bob, ...move.split('-'));
        await stay(move);
      }
      assert.deepEqual(await Promise.all(pages.map(shifts)), [[], []]);
      await barButton(bob, 'Offer a draw').click();
      await barButton(bob, 'Take back').click();
      await ann.getByRole('button', { name: 'Accept' }).nth(1).waitFor();
      await stay('two offers');
      await isInSight(ann);
      await takeScreenshot(ann, `two-offers-${size}`);
      await barButton(ann, 'Resign …').click();
      await stay('whether to give up');
      await ann.keyboard.press('Escape');
      // An answer makes room for a second.
      await Promise.all(pages.map(drawn));
      await Promise.all(pages.map(shifts));
      await playMove(ann, 'h5', 'f7');
      await waitForStatus(ann, 'You win!');
      await waitForStatus(bob, 'You lose.');
      await stay('the end');
      assert.deepEqual(await Promise.all(pages.map(shifts)), [[], []]);
      await takeScreenshot(bob, `lost-${size}`);
      await ann.keyboard.press('ArrowLeft');
      await waitForStatus(ann, 'After 6 of 7 moves.');
      await stay('looking back');
      // What is thought of it stands beside the board, and what is told of a move moves nothing.
      await bob.getByRole('button', { name: 'Analyse' }).first().click();
      const panel = bob.getByRole('region', { name: 'Analysis' });
      await panel.getByText(/accuracy/).waitFor();
      const beside = (await places(bob)).slice(0, -2);
      assert.deepEqual(beside, before[1]?.slice(0, -2));
      const listed = await places(bob);
      await bob.keyboard.press('ArrowLeft');
      await waitForStatus(bob, 'After 6 of 7 moves.');
      await panel.getByText('Blunder').waitFor();
      assert.deepEqual(await places(bob), listed);
      await bob
        .locator('.why', {
          hasText: /^Blunder\. .* would have (been better|held the draw|held out longer)\.$/,
        })
        .waitFor();
      await isInSight(bob);
      await expectNoHorizontalOverflow(bob);
      await takeScreenshot(bob, `analysed-${size}`);
    }),
  );
}

test(
  'a pass is in sight where it is the only move',
  withServer(async (house) => {
    const viewport = { width: 390, height: 844 };
    const ann = await house.openPage('/', { viewport });
    const bob = await house.openPage(await inviteWithTerms(ann, {}, 'Othello'), { viewport });
    await waitForMyTurn(ann);
    const before = await places(ann);
    await playMoves(ann, bob, 'd3 c3 b3 b2 f5 a3 a1 c1');
    await waitForMyTurn(ann);
    const pass = ann.getByRole('button', { name: 'Pass' });
    await pass.and(ann.locator('.primary')).waitFor();
    await isInSight(ann);
    assert.deepEqual(await places(ann), before);
    await takeScreenshot(ann, 'has-to-pass');
    await playOtherMove(ann, 'Pass');
  }),
);

test(
  'with reduced motion, a change of layout takes effect at once',
  withServer(async (house) => {
    const ann = await house.openPage('/', { reducedMotion: 'reduce' });
    const [padding, moving] = await ann.evaluate(() => {
      const main = document.querySelector('main') as HTMLElement;
      document.documentElement.classList.add('at-match');
      return [getComputedStyle(main).padding, document.getAnimations().length];
    });
    assert.equal(padding, '0px');
    assert.equal(moving, 0);
  }),
);
