// Tests the engine output that the page shows while a bot thinks.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { loadLazyTexts } from '../../client/web/page/text/language.ts';
import { evalText } from '../../client/web/page/analysis/eval-text.ts';
import {
  expectNoHorizontalOverflow,
  expectAccessible,
  countMoves,
  waitForMyTurn,
  startBotMatch,
} from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const outputPanel = (page: Page) => page.getByRole('region', { name: 'What the bot thinks' });

/** Measures the engine output and the elements around it. */
const measureLayout = (page: Page) =>
  page.evaluate(() =>
    ['.surface', '.bar', '.thinking', '.listed'].map((selector) => {
      const box = document.querySelector(selector)?.getBoundingClientRect();
      return `${selector} ${box?.x} ${box?.y} ${box?.width} ${box?.height}`;
    }),
  );

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    lying: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'desktop',
)) {
  test(
    `spectators of a bot match see the engine output: ${size}`,
    withServer(async (harness) => {
      const ann = await harness.openPage('/', { viewport, reducedMotion: 'reduce', axe: true });
      await ann.getByRole('radio', { name: 'Chess', exact: true }).check();
      await ann.getByText('Or watch two bots').click();
      assert.ok(await ann.getByLabel('Show what they think').isChecked());
      await ann.getByRole('button', { name: 'Watch them' }).click();
      await ann.getByRole('grid').waitFor();
      const before = await measureLayout(ann);
      const panel = outputPanel(ann);
      await panel.getByText(/^depth \d+ · [\d,]+ positions · [\d,]+ cut off$/).waitFor();
      // The line is in algebraic notation.
      await panel.getByText(/^Line: ([a-h][1-8] |[NBRQK]|[a-h]x|O-O)/).waitFor();
      await panel.getByText(/^White \d+ %$/).waitFor();
      await panel.getByTitle('An estimate: 1 is worth about a pawn.').waitFor();
      // The best move so far is drawn on the board.
      await ann.locator('.drawn.advised').waitFor({ state: 'attached' });
      await eventually(async () => assert.ok((await countMoves(ann)) > 2));
      assert.deepEqual(await measureLayout(ann), before);
      const [height, windowHeight] = await ann.evaluate(() => [
        document.documentElement.scrollHeight,
        innerHeight,
      ]);
      assert.ok(Number(height) <= Number(windowHeight), `${height} > ${windowHeight}`);
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'thinking');
      await takeScreenshot(ann, `thinking-${size}`);
      // A later spectator sees the output, too.
      const bob = await harness.openPage(new URL(ann.url()).pathname);
      await outputPanel(bob)
        .getByText(/positions/)
        .waitFor();
    }),
  );
}

test(
  'players see the engine output of their opponent if they choose to',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await startBotMatch(ann, { game: 'Go', side: 'White' });
    await waitForMyTurn(ann);
    assert.equal(await outputPanel(ann).count(), 0);
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.getByLabel('Show what the bot thinks').check();
    await startBotMatch(ann, { game: 'Go', side: 'White' });
    // A search by playouts has no cutoffs.
    await outputPanel(ann)
      .getByText(/^depth \d+ · [\d,]+ playouts?$/)
      .waitFor();
    // The output stays visible on the player's turn, and the choice is remembered.
    await waitForMyTurn(ann);
    await outputPanel(ann)
      .getByText(/^Line: /)
      .waitFor();
    await ann.goto('/');
    assert.ok(await ann.getByLabel('Show what the bot thinks').isChecked());
  }),
);

test(
  'engine output that arrives before the page shows the match is kept',
  withServer(async (harness) => {
    const ann = await harness.openPage('about:blank');
    let [releaseScript, receiveOutput] = [() => {}, () => {}];
    const scriptReleased = new Promise<void>((resolve) => (releaseScript = resolve));
    const outputReceived = new Promise<void>((resolve) => (receiveOutput = resolve));
    await ann.route('**/match.js', async (route) => {
      await scriptReleased;
      await route.continue();
    });
    ann.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        if (String(payload).includes('"type":"thinking"')) receiveOutput();
      }),
    );
    await ann.goto('/');
    await ann.getByLabel('Show what the bot thinks').check();
    const started = startBotMatch(ann, { game: 'Chess', side: 'Black' });
    await outputReceived;
    releaseScript();
    await started;
    await outputPanel(ann)
      .getByText(/^Line: /)
      .waitFor();
  }),
);

test(
  'the evaluation is in points in games that points decide',
  withServer(async (harness) => {
    for (const [game, evaluation] of [
      ['Othello', /^(Black|White) by about \d+ discs?$/],
      ['Go', /^(Black|White) by about \d+ points?$/],
    ] as [string, RegExp][]) {
      const ann = await harness.openPage('/');
      await ann.getByRole('radio', { name: game, exact: true }).check();
      await ann.getByText('Or watch two bots').click();
      await ann.getByRole('button', { name: 'Watch them' }).click();
      await outputPanel(ann).getByText(evaluation).waitFor();
      await outputPanel(ann).getByTitle('An estimate: what it may come to at the end.').waitFor();
    }
  }),
);

test('the evaluation of a nearly won ending names the winner', async () => {
  await loadLazyTexts();
  const formatValue = (value: number) =>
    evalText({ value, win: 0.5, exact: false }, ['White', 'Red'], 'draughts');
  assert.equal(formatValue(250), 'White +2.50');
  assert.equal(formatValue(17_042), 'White should win');
  assert.equal(formatValue(-15_083), 'Red should win');
});

test('the distance to a win is in full moves', async () => {
  await loadLazyTexts();
  const formatWinIn = (plies: number) =>
    evalText({ value: 1, win: 1, exact: true, wins: 0, in: plies }, ['White', 'Black'], 'chess');
  assert.equal(formatWinIn(5), 'White wins in 3 moves');
  assert.equal(formatWinIn(4), 'White wins in 2 moves');
  assert.equal(formatWinIn(1), 'White wins with the next move');
});
