// What a bot thinks while it thinks: to be seen by whoever wants to.

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

const thoughts = (page: Page) => page.getByRole('region', { name: 'What the bot thinks' });

/** Where things are that stand around what a bot thinks. */
const places = (page: Page) =>
  page.evaluate(() =>
    ['.surface', '.bar', '.thinking', '.listed'].map((part) => {
      const box = document.querySelector(part)?.getBoundingClientRect();
      return `${part} ${box?.x} ${box?.y} ${box?.width} ${box?.height}`;
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
    `whoever watches two bots sees what they think: ${size}`,
    withServer(async (house) => {
      const ann = await house.openPage('/', { viewport, reducedMotion: 'reduce', axe: true });
      await ann.getByRole('radio', { name: 'Chess', exact: true }).check();
      await ann.getByText('Or watch two bots').click();
      assert.ok(await ann.getByLabel('Show what they think').isChecked());
      await ann.getByRole('button', { name: 'Watch them' }).click();
      await ann.getByRole('grid').waitFor();
      const before = await places(ann);
      const panel = thoughts(ann);
      await panel.getByText(/^depth \d+ · [\d,]+ positions · [\d,]+ cut off$/).waitFor();
      // As chess players write moves.
      await panel.getByText(/^Line: ([a-h][1-8] |[NBRQK]|[a-h]x|O-O)/).waitFor();
      await panel.getByText(/^White \d+ %$/).waitFor();
      await panel.getByTitle('An estimate: 1 is worth about a pawn.').waitFor();
      // What it would play now is drawn, while it thinks.
      await ann.locator('.drawn.advised').waitFor({ state: 'attached' });
      await eventually(async () => assert.ok((await countMoves(ann)) > 2));
      assert.deepEqual(await places(ann), before);
      const [height, window] = await ann.evaluate(() => [
        document.documentElement.scrollHeight,
        innerHeight,
      ]);
      assert.ok(Number(height) <= Number(window), `${height} > ${window}`);
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'thinking');
      await takeScreenshot(ann, `thinking-${size}`);
      // Who comes by later sees it, too.
      const bob = await house.openPage(new URL(ann.url()).pathname);
      await thoughts(bob)
        .getByText(/positions/)
        .waitFor();
    }),
  );
}

test(
  'one sees what the bot thinks that one plays, if one wants to',
  withServer(async (house) => {
    const ann = await house.openPage();
    await startBotMatch(ann, { game: 'Go', side: 'White' });
    await waitForMyTurn(ann);
    assert.equal(await thoughts(ann).count(), 0);
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.getByLabel('Show what the bot thinks').check();
    await startBotMatch(ann, { game: 'Go', side: 'White' });
    // Where games are played out there are no moves that are cut off.
    await thoughts(ann)
      .getByText(/^depth \d+ · [\d,]+ playouts?$/)
      .waitFor();
    // It stays in sight while one thinks oneself, and the choice is remembered.
    await waitForMyTurn(ann);
    await thoughts(ann)
      .getByText(/^Line: /)
      .waitFor();
    await ann.goto('/');
    assert.ok(await ann.getByLabel('Show what the bot thinks').isChecked());
  }),
);

test(
  'what a bot has thought before its match is shown is not lost',
  withServer(async (house) => {
    const ann = await house.openPage('about:blank');
    let [show, hear] = [() => {}, () => {}];
    const mayBeShown = new Promise((resolve) => (show = () => resolve(null)));
    const isHeard = new Promise((resolve) => (hear = () => resolve(null)));
    await ann.route('**/match.js', async (route) => {
      await mayBeShown;
      await route.continue();
    });
    ann.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        if (String(payload).includes('"type":"thinking"')) hear();
      }),
    );
    await ann.goto('/');
    await ann.getByLabel('Show what the bot thinks').check();
    const played = startBotMatch(ann, { game: 'Chess', side: 'Black' });
    await isHeard;
    show();
    await played;
    await thoughts(ann)
      .getByText(/^Line: /)
      .waitFor();
  }),
);

test(
  'where points decide, what is thought is told in them',
  withServer(async (house) => {
    for (const [game, told] of [
      ['Othello', /^(Black|White) by about \d+ discs?$/],
      ['Go', /^(Black|White) by about \d+ points?$/],
    ] as [string, RegExp][]) {
      const ann = await house.openPage('/');
      await ann.getByRole('radio', { name: game, exact: true }).check();
      await ann.getByText('Or watch two bots').click();
      await ann.getByRole('button', { name: 'Watch them' }).click();
      await thoughts(ann).getByText(told).waitFor();
      await thoughts(ann).getByTitle('An estimate: what it may come to at the end.').waitFor();
    }
  }),
);

test('an ending that is as good as won is told as that, and not by how many men', async () => {
  await loadLazyTexts();
  const told = (value: number) =>
    evalText({ value, win: 0.5, exact: false }, ['White', 'Red'], 'draughts');
  assert.equal(told(250), 'White +2.50');
  assert.equal(told(17_042), 'White should win');
  assert.equal(told(-15_083), 'Red should win');
});

test('how far a win is away is told in moves, as players count them', async () => {
  await loadLazyTexts();
  const told = (plies: number) =>
    evalText({ value: 1, win: 1, exact: true, wins: 0, in: plies }, ['White', 'Black'], 'chess');
  assert.equal(told(5), 'White wins in 3 moves');
  assert.equal(told(4), 'White wins in 2 moves');
  assert.equal(told(1), 'White wins with the next move');
});
