// The page `/games`: ongoing matches, ended games and notifications of correspondence matches.

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

const endedRows = (page: Page) => page.locator('.kind', { hasText: 'Over' }).locator('li');

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    landscape: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `the games page lists ongoing matches first and the results of ended games below: ${size}`,
    withServer(async (harness) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await harness.openPage('/', options);
      await ann.getByRole('link', { name: 'All your games' }).click();
      await ann.getByText('None of your games is over yet.').waitFor();
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
      const bob = await harness.openPage(await inviteFriend(ann, 'Connect Four'));
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
      // Ann starts a match and is to move.
      const link = await inviteFriend(ann, 'Tic-tac-toe');
      await bob.goto(link);
      await waitForMyTurn(ann);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
      await chooseClock(ann, '3 days a move');
      await bob.goto(await inviteFriend(ann, 'Chess'));
      await waitForMyTurn(ann);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
      // Created last, because the server cancels it if the first move is not made within 30
      // seconds.
      await chooseClock(ann, '5+3');
      await bob.goto(await inviteFriend(ann, 'Othello'));
      await waitForMyTurn(ann);

      await ann.goto('/games');
      const rows = endedRows(ann);
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

      // Filters narrow the list, and Enter on a row opens the replay.
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
  'the button Show more loads older games',
  // The test plays faster than the default request limit allows.
  withServer(
    async (harness) => {
      const ann = await harness.openPage();
      await ann.getByRole('button', { name: /^Play the/ }).waitFor();
      await ann.evaluate(async () => {
        const token = localStorage.getItem('plyhouse.token');
        const socket = new WebSocket(`ws://${location.host}/ws`);
        await new Promise((resolve) => (socket.onopen = resolve));
        const hello = { type: 'hello', protocol: 1, token, beside: true };
        socket.send(JSON.stringify(hello));
        let remaining = 22;
        const createMatch = () => {
          const seats = ['me', { bot: 'beginner' }];
          socket.send(JSON.stringify({ type: 'create', id: 1, game: 'chess', seats }));
        };
        await new Promise((resolve) => {
          socket.onmessage = ({ data }) => {
            const message = JSON.parse(data);
            if (message.type === 'welcome') createMatch();
            if (message.type === 'match') {
              const { match } = message;
              socket.send(JSON.stringify({ type: 'move', id: 2, match, ply: 0, move: 'e2e4' }));
            }
            // A match is stored as a game after two moves.
            if (message.type === 'moved' && message.ply === 1) {
              socket.send(JSON.stringify({ type: 'resign', id: 3, match: message.match }));
            }
            if (message.type === 'ended') remaining -= 1;
            if (message.type === 'ended' && remaining === 0) resolve(null);
            if (message.re === 3) createMatch();
          };
        });
        socket.close();
      });
      await ann.getByRole('link', { name: 'All your games' }).click();
      const rows = endedRows(ann);
      const more = ann.getByRole('button', { name: 'Show more' });
      await rows.nth(19).waitFor();
      assert.equal(await rows.count(), 20);
      await more.focus();
      await ann.keyboard.press('Enter');
      await rows.nth(21).waitFor();
      // The focus moves to the first loaded row.
      await rows.nth(20).locator('button:focus').waitFor();
      await more.waitFor({ state: 'hidden' });
      assert.equal(await rows.count(), 22);
    },
    ['--burst', '200'],
  ),
);

/** Plays a move in a correspondence match, where each move must be confirmed. */
const playAndConfirm = (page: Page, ...squares: string[]) =>
  playAndWait(page, async () => {
    for (const square of squares) await cell(page, square).click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
  });

/** Replaces `Notification`, because the browser of the tests shows none. */
const mockNotifications = (page: Page, answer: NotificationPermission) =>
  page.addInitScript((answer) => {
    const shown: string[] = [];
    class MockNotification {
      static permission = sessionStorage.getItem('permission') ?? 'default';
      onclick: () => void = () => {};
      constructor(title: string, { body = '' }: NotificationOptions) {
        shown.push(`${title} ${body}`);
        Object.assign(globalThis, { notification: this });
      }
      static async requestPermission() {
        MockNotification.permission = answer;
        sessionStorage.setItem('permission', answer);
        return answer;
      }
      close() {}
    }
    Object.assign(globalThis, { Notification: MockNotification, shown });
  }, answer);

const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
  }, isHidden);

/** Texts of the notifications since the page was loaded. */
const shownNotifications = (page: Page): Promise<string[]> => page.evaluate('shown');

test(
  'a hidden page shows notifications of turns in correspondence matches if the user enables them',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await mockNotifications(ann, 'granted');
    await ann.goto('/games');
    await ann.getByText('None of your games is over yet.').waitFor();
    // Without a correspondence match, the page does not offer notifications.
    assert.equal(await ann.getByRole('button', { name: 'Tell me' }).count(), 0);
    await ann.goto('/');
    await chooseClock(ann, '3 days a move');
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playAndConfirm(ann, 'e2', 'e4');
    await ann.goto('/games');
    await ann.getByRole('button', { name: 'Tell me' }).click();
    await ann.getByText('While this page is open, you are told when it is your turn.').waitFor();
    // A visible page shows no notification.
    await playAndConfirm(bob, 'e7', 'e5');
    await ann.locator('li', { hasText: 'your turn until' }).waitFor();
    assert.deepEqual(await shownNotifications(ann), []);
    await ann.getByRole('button', { name: 'Your turn' }).click();
    await playAndConfirm(ann, 'd2', 'd4');
    // A hidden page notifies on the page of the match and on other pages.
    await setHidden(ann, true);
    await playAndConfirm(bob, 'd7', 'd5');
    await eventually(async () => assert.equal((await shownNotifications(ann)).length, 1));
    await setHidden(ann, false);
    await playAndConfirm(ann, 'a2', 'a3');
    await ann.goto('/games');
    await ann.locator('li', { hasText: 'their turn until' }).waitFor();
    await setHidden(ann, true);
    await playAndConfirm(bob, 'a7', 'a6');
    await eventually(async () => assert.equal((await shownNotifications(ann)).length, 1));
    const [text = ''] = await shownNotifications(ann);
    assert.match(text, /^Your turn\. Chess against guest-\w+$/);
    await ann.evaluate('notification.onclick()');
    await waitForMyTurn(ann);
    // After the user disables notifications, none is shown.
    await setHidden(ann, false);
    await playAndConfirm(ann, 'b2', 'b3');
    await ann.goto('/games');
    await ann.getByRole('button', { name: 'Tell me no more' }).click();
    await ann.getByRole('button', { name: 'Tell me', exact: true }).waitFor();
    await setHidden(ann, true);
    await playAndConfirm(bob, 'b7', 'b6');
    await ann.locator('li', { hasText: 'your turn until' }).waitFor();
    assert.deepEqual(await shownNotifications(ann), []);
  }),
);

test(
  'the page says that the browser denies notifications',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await mockNotifications(ann, 'denied');
    await ann.goto('/');
    await chooseClock(ann, '3 days a move');
    await harness.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    await ann.goto('/games');
    await ann.getByRole('button', { name: 'Tell me' }).click();
    await ann.getByText('This browser does not let this page tell you').waitFor();
  }),
);
