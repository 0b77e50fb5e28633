// Tests what a new user finds: ways to play, a running match in the lobby, and the rules.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  expectNoHorizontalOverflow,
  expectAccessible,
  waitForMyTurn,
  createOpenMatch,
  playMove,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const GAMES = ['Chess', 'Draughts', 'Connect Four', 'Tic-tac-toe', 'Othello', 'Go', 'Gomoku'];

for (const [size, viewport] of selectVariants(
  Object.entries({
    desktop: { width: 1280, height: 720 },
    phone: { width: 390, height: 844 },
  }),
  'phone',
)) {
  test(
    `the three ways to play are within the window: ${size}`,
    withServer(async (harness) => {
      const page = await harness.openPage('/', { viewport });
      for (const name of [/^Play the/, 'Invite a friend', 'Find an opponent']) {
        const box = await page.getByRole('button', { name }).boundingBox();
        assert.ok(box && box.y + box.height < viewport.height, `${name}: ${JSON.stringify(box)}`);
      }
      const link = await page.getByRole('link', { name: 'Or set up a position' }).boundingBox();
      assert.ok(link && link.y + link.height < viewport.height, JSON.stringify(link));
      await expectNoHorizontalOverflow(page);
      const games = page.getByRole('group', { name: 'Game', exact: true }).locator('label > span');
      assert.deepEqual(await games.allInnerTexts(), GAMES);
      // The first game is preselected.
      assert.ok(await page.getByRole('radio', { name: 'Chess', exact: true }).isChecked());
      await takeScreenshot(page, `arriving-${size}`);
    }),
  );
}

test(
  'an empty lobby offers a match between bots, which the next user sees',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    const live = ann.locator('.live');
    const offer = live.getByRole('button', { name: 'Watch two bots play' });
    await offer.waitFor();
    await expectAccessible(ann, 'empty lobby');
    await takeScreenshot(ann, 'nobody-plays');
    await offer.click();
    await ann.getByText('You are watching.').waitFor();
    await ann.getByRole('region', { name: 'What the bot thinks' }).waitFor();
    const eve = await harness.openPage();
    await eve.locator('.live').getByText('being played now').waitFor();
    assert.equal(await eve.getByRole('button', { name: 'Watch two bots play' }).count(), 0);
  }),
);

test(
  'the lobby shows a running match, and leaving the lobby ends the subscription',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const link = await createOpenMatch(ann, 'Chess');
    const bob = await harness.openPage(link);
    await waitForMyTurn(ann);
    const eve = await harness.openPage('/', { axe: true });
    const live = eve.locator('.live');
    await live.getByText('Chess · being played now').waitFor();
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    // The squares of the last move are marked.
    for (const square of ['e7', 'e5']) {
      await live.locator(`.square.last[data-square=${square}]`).waitFor();
    }
    await ann.getByText('1 watching').waitFor();
    await expectAccessible(eve, 'live');
    await takeScreenshot(eve, 'live');
    await live.getByRole('link').click();
    await eve.getByText('You are watching.').waitFor();
    await cell(eve, 'e5').and(eve.getByLabel('last move')).waitFor();
    await eve.getByRole('link', { name: 'Plyhouse' }).click();
    await live.waitFor();
    await eve.goto('about:blank');
    await ann.getByText('1 watching').waitFor({ state: 'detached' });
  }),
);

/** Holds back the `match` messages of the server. The returned function releases them. */
async function holdMatchMessages(page: Page): Promise<() => void> {
  let held: (() => void)[] | null = [];
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      if (held && JSON.parse(String(text)).type === 'match') held.push(() => socket.send(text));
      else socket.send(text);
    });
  });
  await page.reload();
  return () => {
    for (const send of held ?? []) send();
    held = null;
  };
}

for (const [size, viewport] of selectVariants(
  Object.entries({
    desktop: { width: 1280, height: 720 },
    phone: { width: 390, height: 844 },
  }),
  'desktop',
)) {
  test(
    `a running match in the lobby does not move the content below: ${size}`,
    withServer(async (harness) => {
      const ann = await harness.openPage();
      const bob = await harness.openPage(await createOpenMatch(ann, 'Connect Four'));
      await waitForMyTurn(ann);
      const eve = await harness.openPage('/', { viewport });
      const releaseMatches = await holdMatchMessages(eve);
      // The button keeps its place, so that clicks do not miss it.
      const watch = eve.getByRole('button', { name: /^Watch: / });
      await watch.waitFor();
      const before = await watch.boundingBox();
      releaseMatches();
      const live = eve.locator('.live');
      await live.getByText('Connect Four · being played now').waitFor();
      assert.deepEqual(await watch.boundingBox(), before);
      const measureCodeField = () => eve.getByLabel('A friend gave you a code?').boundingBox();
      const codeField = await measureCodeField();
      await bob.getByRole('button', { name: 'Resign …' }).click();
      await bob.getByRole('button', { name: 'Cancel the match' }).click();
      await live.getByRole('button', { name: 'Watch two bots play' }).waitFor();
      assert.deepEqual(await measureCodeField(), codeField);
    }),
  );
}

test(
  'another match replaces a finished one in the lobby',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await createOpenMatch(ann, 'Chess'));
    await waitForMyTurn(ann);
    const eve = await harness.openPage();
    await eve.locator('.live', { hasText: 'Chess' }).waitFor();
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Cancel the match' }).click();
    await eve.getByRole('button', { name: 'Watch two bots play' }).waitFor();
    await bob.getByRole('link', { name: 'To the lobby' }).click();
    await bob.getByText('Or watch two bots').click();
    await bob.getByRole('radio', { name: 'Go', exact: true }).check();
    await bob.getByRole('button', { name: 'Watch them' }).click();
    await eve.locator('.live', { hasText: 'Go · being played now' }).waitFor();
  }),
);

test(
  'the rules of each game fit one screen and offer a board and a bot',
  withServer(async (harness) => {
    const viewport = { width: 390, height: 844 };
    const page = await harness.openPage('/', { viewport, axe: true });
    for (const game of selectVariants(GAMES, 'Chess', 'Gomoku')) {
      await page.getByRole('radio', { name: game, exact: true }).check();
      await page.getByRole('button', { name: 'Rules' }).click();
      const dialog = page.getByRole('dialog', { name: `Rules of ${game}` });
      await dialog.waitFor();
      assert.ok((await dialog.locator('.piece').count()) > 3, game);
      assert.ok((await dialog.locator('[class*=mark-]').count()) > 0, game);
      const overflow = await dialog.evaluate(
        ({ scrollHeight, clientHeight }) => scrollHeight - clientHeight,
      );
      assert.ok(overflow <= 0, `${game}: ${overflow} px`);
      await expectAccessible(page, game);
      await takeScreenshot(page, `rules-${game}`);
      await dialog.getByRole('button', { name: 'Close' }).click();
    }
    await page.getByRole('button', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'Try the beginner bot' }).click();
    await waitForMyTurn(page);
    await page.getByRole('heading', { name: /^Gomoku/ }).waitFor();
    // The match has the rules, too.
    await page.getByRole('button', { name: 'Rules' }).click();
    await page.getByRole('dialog', { name: 'Rules of Gomoku' }).waitFor();
  }),
);
