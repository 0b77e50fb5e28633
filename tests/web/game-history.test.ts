// My games: those that are played, and those that are over.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  chooseClock,
  expectNoHorizontalOverflow,
  inviteFriend,
  expectAccessible,
  waitForMyTurn,
  playMove,
  playMoves,
  playAndWait,
} from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/** The games that are over. */
const ended = (page: Page) => page.locator('.kind', { hasText: 'Over' }).locator('li');

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    lying: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `my games: what is played first, and below how the others ended: ${size}`,
    withServer(async (house) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await house.openPage('/', options);
      await ann.getByRole('link', { name: 'All your games' }).click();
      await ann.getByText('None of your games is over yet.').waitFor();
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
      const bob = await house.openPage(await inviteFriend(ann, 'Connect Four'));
      const match = new URL(ann.url()).pathname;
      await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
      const result = ann.getByRole('region', { name: 'You win!' });
      await result.getByRole('button', { name: 'Rematch' }).click();
      await bob.getByRole('button', { name: 'Accept' }).click();
      await playMove(bob, 'a1');
      await waitForMyTurn(ann);
      await ann.getByRole('button', { name: 'Resign …' }).click();
      await ann.getByRole('button', { name: 'Resign', exact: true }).click();
      await ann.getByRole('heading', { name: 'You lose.' }).waitFor();
      await ann.getByRole('link', { name: 'To the lobby' }).click();
      // One that goes on, where it is our turn.
      const link = await inviteFriend(ann, 'Tic-tac-toe');
      await bob.goto(link);
      await waitForMyTurn(ann);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
      await chooseClock(ann, '3 days a move');
      await bob.goto(await inviteFriend(ann, 'Chess'));
      await waitForMyTurn(ann);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
      // Last: it is called off where the first move is not made within 30 seconds.
      await chooseClock(ann, '5+3');
      await bob.goto(await inviteFriend(ann, 'Othello'));
      await waitForMyTurn(ann);

      await ann.goto('/games');
      const rows = ended(ann);
      await rows.nth(1).waitFor();
      assert.equal(await rows.count(), 2);
      assert.match(await rows.nth(0).innerText(), /guest-\w+\s+Lost · Connect Four · 1\smove · /);
      assert.match(await rows.nth(1).innerText(), /guest-\w+\s+Won · Connect Four · 7\smoves · /);
      const own = ann.getByRole('region', { name: 'Yours' });
      await own.locator('li', { hasText: 'Tic-tac-toe' }).getByText('Your turn').waitFor();
      await own.locator('li', { hasText: /Chess · your turn until / }).waitFor();
      await own.locator('li', { hasText: /Othello · 5\+3 · \d:\d\d left/ }).waitFor();
      await expectAccessible(ann, 'games');
      await expectNoHorizontalOverflow(ann);
      await takeScreenshot(ann, `games-${size}`);

      // By game, and by keyboard to its moves.
      const choose = (label: string, option: string | RegExp) =>
        ann.getByLabel(label).selectOption(option instanceof RegExp ? { index: 2 } : option);
      await choose('Game', 'Chess');
      await ann.getByText('None of your games is like that.').waitFor();
      await choose('Game', 'Connect Four');
      await rows.nth(1).waitFor();
      await choose('Result', 'Lost');
      await rows.nth(1).waitFor({ state: 'hidden' });
      await rows.nth(0).filter({ hasText: 'Lost' }).waitFor();
      await choose('Opponent', 'Bots');
      await ann.getByText('None of your games is like that.').waitFor();
      await choose('Opponent', /guest/);
      await rows.nth(0).waitFor();
      await choose('Result', 'Any result');
      await rows.nth(1).waitFor();
      await rows.nth(1).getByRole('button').focus();
      await ann.keyboard.press('Enter');
      await ann.getByRole('button', { name: 'One move back' }).waitFor();
      await ann.locator('.moves button').nth(6).waitFor();
      assert.equal(await ann.locator('.moves button').count(), 7);
      assert.notEqual(new URL(ann.url()).pathname, match);
    }),
  );
}

test(
  'older games are shown when they are asked for',
  // As quickly as one program plays, for which other bounds are meant than for people.
  withServer(
    async (house) => {
      const ann = await house.openPage();
      await ann.getByRole('button', { name: /^Play the/ }).waitFor();
      // Played as quickly as the server takes them.
      await ann.evaluate(async () => {
        const token = localStorage.getItem('plyhouse.token');
        const socket = new WebSocket(`ws://${location.host}/ws`);
        await new Promise((resolve) => (socket.onopen = resolve));
        const hello = { type: 'hello', protocol: 1, token, beside: true };
        socket.send(JSON.stringify(hello));
        let left = 22;
        const begin = () => {
          const seats = ['me', { bot: 'beginner' }];
          socket.send(JSON.stringify({ type: 'create', id: 1, game: 'chess', seats }));
        };
        await new Promise((resolve) => {
          socket.onmessage = ({ data }) => {
            const message = JSON.parse(data);
            if (message.type === 'welcome') begin();
            if (message.type === 'match') {
              const { match } = message;
              socket.send(JSON.stringify({ type: 'move', id: 2, match, ply: 0, move: 'e2e4' }));
            }
            // After two moves it counts.
            if (message.type === 'moved' && message.ply === 1) {
              socket.send(JSON.stringify({ type: 'resign', id: 3, match: message.match }));
            }
            if (message.type === 'ended') left -= 1;
            if (message.type === 'ended' && left === 0) resolve(null);
            if (message.re === 3) begin();
          };
        });
        socket.close();
      });
      await ann.getByRole('link', { name: 'All your games' }).click();
      const rows = ended(ann);
      const more = ann.getByRole('button', { name: 'Show more' });
      await rows.nth(19).waitFor();
      assert.equal(await rows.count(), 20);
      await more.focus();
      await ann.keyboard.press('Enter');
      await rows.nth(21).waitFor();
      // The focus goes on to what has come.
      await rows.nth(20).locator('button:focus').waitFor();
      await more.waitFor({ state: 'hidden' });
      assert.equal(await rows.count(), 22);
    },
    ['--burst', '200'],
  ),
);

/** Plays where a move is asked about before it counts. */
const playByDays = (page: Page, ...squares: string[]) =>
  playAndWait(page, async () => {
    for (const square of squares) await cell(page, square).click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
  });

/**
 * Notices that a browser of the tests shows nobody.
 * @param answer to whoever asks
 */
const withNotices = (page: Page, answer: NotificationPermission) =>
  page.addInitScript((answer) => {
    const shown = [] as string[];
    class Notice {
      static permission = sessionStorage.getItem('asked') ?? 'default';
      onclick: () => void = () => {};
      constructor(title: string, { body = '' }: NotificationOptions) {
        shown.push(`${title} ${body}`);
        Object.assign(globalThis, { notice: this });
      }
      static async requestPermission() {
        Notice.permission = answer;
        sessionStorage.setItem('asked', answer);
        return answer;
      }
      close() {}
    }
    Object.assign(globalThis, { Notification: Notice, shown });
  }, answer);

/** @param isHidden whether nobody looks at it */
const hide = (page: Page, isHidden: boolean) =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
  }, isHidden);

/** What was told outside of the page. */
const shown = (page: Page): Promise<string[]> => page.evaluate('shown');

test(
  'whoever plays by days and asks for it is told of their turn while they look elsewhere',
  withServer(async (house) => {
    const ann = await house.openPage();
    await withNotices(ann, 'granted');
    await ann.goto('/games');
    await ann.getByText('None of your games is over yet.').waitFor();
    // Whoever plays none by days is not asked.
    assert.equal(await ann.getByRole('button', { name: 'Tell me' }).count(), 0);
    await ann.goto('/');
    await chooseClock(ann, '3 days a move');
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await playByDays(ann, 'e2', 'e4');
    await ann.goto('/games');
    await ann.getByRole('button', { name: 'Tell me' }).click();
    await ann.getByText('While this page is open, you are told when it is your turn.').waitFor();
    // Whoever looks sees it.
    await playByDays(bob, 'e7', 'e5');
    await ann.locator('li', { hasText: 'your turn until' }).waitFor();
    assert.deepEqual(await shown(ann), []);
    await ann.getByRole('button', { name: 'Your turn' }).click();
    await playByDays(ann, 'd2', 'd4');
    // In the match itself, and elsewhere.
    await hide(ann, true);
    await playByDays(bob, 'd7', 'd5');
    await eventually(async () => assert.equal((await shown(ann)).length, 1));
    await hide(ann, false);
    await playByDays(ann, 'a2', 'a3');
    await ann.goto('/games');
    await ann.locator('li', { hasText: 'their turn until' }).waitFor();
    await hide(ann, true);
    await playByDays(bob, 'a7', 'a6');
    await eventually(async () => assert.equal((await shown(ann)).length, 1));
    const [notice = ''] = await shown(ann);
    assert.match(notice, /^Your turn\. Chess against guest-\w+$/);
    await ann.evaluate('notice.onclick()');
    await waitForMyTurn(ann);
    // Not any more.
    await hide(ann, false);
    await playByDays(ann, 'b2', 'b3');
    await ann.goto('/games');
    await ann.getByRole('button', { name: 'Tell me no more' }).click();
    await ann.getByRole('button', { name: 'Tell me', exact: true }).waitFor();
    await hide(ann, true);
    await playByDays(bob, 'b7', 'b6');
    await ann.locator('li', { hasText: 'your turn until' }).waitFor();
    assert.deepEqual(await shown(ann), []);
  }),
);

test(
  'a browser that lets nothing be told says so',
  withServer(async (house) => {
    const ann = await house.openPage();
    await withNotices(ann, 'denied');
    await ann.goto('/');
    await chooseClock(ann, '3 days a move');
    await house.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    await ann.goto('/games');
    await ann.getByRole('button', { name: 'Tell me' }).click();
    await ann.getByText('This browser does not let this page tell you').waitFor();
  }),
);
