// Tests recovery from lost connections, server failures, second tabs, rejected requests and invalid
// input.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  openRenameDialog,
  inviteFriend,
  expectInViewport,
  expectAccessible,
  legalSquares,
  countMoves,
  waitForMyTurn,
  playMove,
  startBotMatch,
  waitForStatus,
  expectTitle,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot } from './support.ts';

after(closeBrowser);

test(
  'a reloaded page continues the match',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await startBotMatch(page);
    await playMove(page, 'b2');
    await waitForMyTurn(page);
    const before = await countMoves(page);
    await page.reload();
    await waitForMyTurn(page);
    assert.equal(await countMoves(page), before);
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
    // The token is stored, but is not in the URL.
    const token = await page.evaluate(() => localStorage.getItem('plyhouse.token'));
    assert.ok(token && token.length >= 20 && !page.url().includes(token));
  }),
);

test(
  'a match continues after the server was killed and restarted',
  withServer(async (harness) => {
    harness.expectsFailures = true;
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    const eve = await harness.openPage(new URL(ann.url()).pathname);
    await playMove(ann, 'b2');
    await eve.getByRole('gridcell', { name: 'b2, x, last move' }).waitFor();
    await harness.server.kill();
    for (const page of [ann, bob, eve]) {
      await page.getByText('Next try in').waitFor();
      await waitForStatus(page, 'Waiting for the connection');
    }
    await expectTitle(bob, /^(?!.*Your turn)/);
    await takeScreenshot(bob, 'disconnected');
    assert.deepEqual(await legalSquares(bob), []);
    await harness.server.start();
    for (const page of [ann, bob, eve])
      await page.getByText('Next try in').waitFor({ state: 'hidden' });
    await playMove(bob, 'a1');
    await playMove(ann, 'c3');
    await eve.getByRole('gridcell', { name: 'c3, x, last move' }).waitFor();
  }),
);

test(
  'a move is sent again after the connection is lost',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await startBotMatch(page);
    await waitForMyTurn(page);
    await page.evaluate(() => {
      // The socket closes in place of sending the first move.
      const send = WebSocket.prototype.send;
      WebSocket.prototype.send = function (data: string) {
        if (!String(data).includes('"move"')) return send.call(this, data);
        WebSocket.prototype.send = send;
        this.close();
      };
    });
    await cell(page, 'b2').click();
    await page.locator('.moves button').nth(1).waitFor();
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
  }),
);

test(
  'a dead connection is detected when the page becomes visible',
  withServer(async (harness) => {
    const page = await harness.openPage();
    let isAsleep = false;
    await page.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      let isLost = false;
      socket.onMessage((text) => (isLost ||= isAsleep) || server.send(text));
      server.onMessage((text) => (isLost ||= isAsleep) || socket.send(text));
    });
    await page.reload();
    await startBotMatch(page);
    await playMove(page, 'b2');
    await waitForMyTurn(page);
    isAsleep = true;
    // The page pings the server when it becomes visible, as after sleep.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('The server does not answer.').waitFor();
    isAsleep = false;
    await page.getByText('Next try in').waitFor({ state: 'hidden' });
    await waitForMyTurn(page);
    const [square = ''] = await legalSquares(page);
    await playMove(page, square);
  }),
);

test(
  'a move without a reply shows a notice and is sent again over a new connection',
  withServer(async (harness) => {
    const page = await harness.openPage('/', { viewport: { width: 320, height: 640 } });
    let isSilent = false;
    let connections = 0;
    await page.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      const connection = ++connections;
      const isLost = () => isSilent && connection === 1;
      socket.onMessage((text) => isLost() || server.send(text));
      server.onMessage((text) => isLost() || socket.send(text));
    });
    await page.reload();
    await startBotMatch(page);
    await waitForMyTurn(page);
    const before = await page.locator('.surface').boundingBox();
    isSilent = true;
    await cell(page, 'b2').click();
    await page.getByText('No answer yet …').waitFor();
    assert.equal(connections, 1);
    // The notice does not move the board.
    assert.deepEqual(await page.locator('.surface').boundingBox(), before);
    await takeScreenshot(page, 'no-answer-phone');
    await page.locator('.moves button').nth(1).waitFor();
    assert.equal(connections, 2);
    await page.getByText('No answer yet …').waitFor({ state: 'hidden' });
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
  }),
);

test(
  'a second tab takes over the connection, and the first can take it back',
  withServer(async (harness) => {
    const first = await harness.openPage();
    await startBotMatch(first);
    await waitForMyTurn(first);
    const second = await first.context().newPage();
    await second.goto(first.url());
    await waitForMyTurn(second);
    await first.getByText('You are playing in another tab or window now.').waitFor();
    await waitForStatus(first, 'You are in another tab.');
    await takeScreenshot(first, 'replaced');
    await playMove(second, 'b2');
    await first.getByRole('button', { name: 'Take it back here' }).click();
    await second.getByText('You are playing in another tab or window now.').waitFor();
    await first.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
  }),
);

test(
  'a search continues after a lost connection and ends in a replaced tab',
  withServer(async (harness) => {
    harness.expectsFailures = true;
    const eve = await harness.openPage();
    const first = await harness.openPage();
    await first.getByRole('button', { name: 'Find an opponent' }).click();
    await first.getByText('bot sits down in').waitFor();
    // The server has accepted the search. Otherwise the page would report it as failed.
    await eve.getByRole('button', { name: /^Play: guest-/ }).waitFor();
    await harness.server.kill();
    await first.getByText('The search goes on as soon as there is a connection.').waitFor();
    await harness.server.start();
    await first.getByText('bot sits down in').waitFor();
    const second = await first.context().newPage();
    await second.goto('/');
    await second.getByRole('button', { name: 'Find an opponent' }).waitFor();
    await first.getByText('You are playing in another tab or window now.').waitFor();
    assert.equal(await first.locator('#toast').innerText(), '');
    // The lobby is inert until the tab takes the connection back.
    assert.equal(await first.locator('.lobby').getAttribute('inert'), '');
    await first.getByRole('button', { name: 'Take it back here' }).click();
    await first.getByRole('button', { name: 'Find an opponent' }).click();
    await first.getByText('bot sits down in').waitFor();
  }),
);

test(
  'a rejected move is undone and the reason is shown',
  withServer(async (harness) => {
    const page = await harness.openPage();
    let holdError = (_send: () => void) => {};
    const heldError = new Promise<() => void>((resolve) => (holdError = resolve));
    await page.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => {
        const { type, id } = JSON.parse(String(text));
        if (type !== 'move') return server.send(text);
        const error = {
          type: 'error',
          re: id,
          code: 'illegal_move',
          message: 'the square is haunted',
          retryable: false,
        };
        holdError(() => socket.send(JSON.stringify(error)));
      });
    });
    await page.reload();
    await startBotMatch(page);
    await waitForMyTurn(page);
    await cell(page, 'b2').click();
    // The move appears before the reply.
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
    const sendError = await heldError;
    sendError();
    await page.getByText('Your move was not played. The square is haunted.').waitFor();
    await page.getByRole('gridcell', { name: 'b2, empty' }).waitFor();
    await waitForMyTurn(page);
  }),
);

test(
  'an absent opponent is shown with the remaining time, and loses',
  withServer(
    async (harness) => {
      const ann = await harness.openPage();
      const bob = await harness.openPage(await inviteFriend(ann));
      await playMove(ann, 'b2');
      await bob.close();
      await ann.getByText(/away, \ds to come back/).waitFor();
      await waitForStatus(ann, 'You win!');
      await ann.locator('.why', { hasText: 'did not come back.' }).waitFor();
    },
    ['--abandon-after', '6'],
  ),
);

test(
  'a name with markup is shown as text',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const name = '<img src=x onerror=a()>';
    await openRenameDialog(ann);
    await ann.getByLabel('What others see').fill(name);
    await ann.getByRole('button', { name: 'Use this name' }).click();
    await ann.locator('header .name', { hasText: name }).waitFor();
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    const bob = await harness.openPage(await inviteFriend(ann));
    await bob.locator('.player', { hasText: name }).waitFor();
    assert.equal(await bob.locator('main img').count(), 0);
  }),
);

test(
  'an invalid name shows an error and keeps the old name',
  withServer(async (harness) => {
    const page = await harness.openPage();
    const ownName = page.locator('header .name');
    await page.locator('.name', { hasText: 'guest-' }).waitFor();
    const before = await ownName.innerText();
    await openRenameDialog(page);
    await page.getByLabel('What others see').fill('a\u202eb');
    const submit = page.getByRole('button', { name: 'Use this name' });
    await submit.click();
    await page.getByRole('alert').filter({ hasText: 'A name cannot contain U+202E.' }).waitFor();
    await page.locator('.banner').waitFor({ state: 'hidden' });
    // Other invalid names leave the dialog open, too.
    for (const [name, why] of [
      ['   ', 'A name has at least one character.'],
      ['x'.repeat(25), 'A name has at most 24 characters; this one has 25.'],
    ] as const) {
      await page.getByLabel('What others see').fill(name);
      await submit.click();
      await page.getByRole('alert').filter({ hasText: why }).waitFor();
    }
    await takeScreenshot(page, 'name');
    await page.keyboard.press('Escape');
    assert.equal(await ownName.innerText(), before);
    // An emoji counts as one character.
    await page.getByRole('button', { name: 'Choose a name' }).click();
    await page.getByLabel('What others see').fill('😀'.repeat(24));
    await submit.click();
    await page.locator('.name', { hasText: '😀'.repeat(24) }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }),
);

test(
  'a player in a match sees when the name can be changed',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await startBotMatch(page);
    const match = page.url();
    await openRenameDialog(page);
    await page.getByText('It can be changed when the match is over, or cancelled.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Use this name' }).count(), 0);
    await takeScreenshot(page, 'name-bound');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.goBack();
    assert.equal(page.url(), match);
    await page.getByRole('button', { name: 'Resign …' }).click();
    await page.getByRole('button', { name: 'Resign', exact: true }).click();
    await waitForStatus(page, 'You lose.');
    await openRenameDialog(page);
    await page.getByRole('button', { name: 'Use this name' }).waitFor();
  }),
);

test(
  'a match is opened by its code or a pasted link',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const link = await inviteFriend(ann);
    const bob = await harness.openPage('/', { viewport: { width: 390, height: 844 } });
    const code = bob.getByLabel('A friend gave you a code?');
    // Wait for the part of the lobby that appears last, because it moves the field.
    await bob.getByText('Watch two bots play').waitFor();
    await code.fill('4vz');
    await code.press('Enter');
    const alert = bob.getByRole('alert');
    await expectInViewport(alert.filter({ hasText: 'A code has six letters and digits.' }));
    await code.fill(` ${link} `);
    assert.equal(await code.inputValue(), link.slice(-6));
    await code.fill(` ${link.slice(-6).toLowerCase()} `);
    await bob.getByRole('button', { name: 'Open', exact: true }).click();
    await waitForMyTurn(ann);
    await bob.waitForURL(link);
  }),
);

test(
  'an unknown match code shows a message',
  withServer(async (harness) => {
    const page = await harness.openPage('/m/ZZZZZZ');
    await page.getByText('There is no match with this code now.').waitFor();
    await page.getByRole('link', { name: 'To the lobby' }).click();
    await page.getByRole('button', { name: /^Play the/ }).waitFor();
  }),
);

test(
  'a match is requested again after a temporary error',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const eve = await harness.openPage();
    let errors = 2;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await eve.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      socket.onMessage(async (text) => {
        const { type, id } = JSON.parse(String(text));
        if (type !== 'join' || errors-- <= 0) return server.send(text);
        // The message of the first error must stay until the test has read it.
        if (errors === 0) await released;
        const error = {
          type: 'error',
          re: id,
          code: errors === 0 ? 'overloaded' : 'rate_limited',
          message: 'not now',
          retryable: true,
          ...(errors === 0 ? { retry_after_ms: 100 } : {}),
        };
        socket.send(JSON.stringify(error));
      });
    });
    const link = await inviteFriend(ann);
    await eve.goto(link);
    await eve.getByRole('heading', { name: 'Too many requests.' }).waitFor();
    await eve.getByText('Trying again in a moment …').waitFor();
    await expectTitle(eve, 'Trying again … – Plyhouse');
    release();
    await eve.getByRole('grid').waitFor();
    // The player has taken the seat.
    await playMove(ann, 'b2');
    await waitForMyTurn(eve);
  }),
);

test(
  'a double click creates one match',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await page.getByRole('button', { name: /^Play the/ }).dblclick();
    await waitForMyTurn(page);
    await page.goto(new URL('/', page.url()).href);
    const ownMatches = page.getByRole('button', { name: /^Your turn: / });
    await ownMatches.first().waitFor();
    assert.equal(await ownMatches.count(), 1);
  }),
);

test(
  'a page shows that it is loading, or that it needs scripts',
  withServer(async (harness) => {
    const slow = await harness.openPage('about:blank');
    await slow.route('**/main.js', () => {});
    await slow.goto('/', { waitUntil: 'commit' });
    await slow.getByRole('status').filter({ hasText: '…' }).waitFor();
    const late = await harness.openPage('about:blank');
    await late.route('**/match.js', () => {});
    await late.goto('/m/ABCDEF', { waitUntil: 'commit' });
    await late.getByText('Loading …').waitFor();
    const scriptless = await harness.openPage('/', { javaScriptEnabled: false });
    await scriptless.getByRole('heading', { name: 'Plyhouse needs JavaScript.' }).waitFor();
    assert.equal(await scriptless.locator('.loading').isVisible(), false);
  }),
);

test(
  'a page that fails to load shows an error and can be reloaded',
  withServer(async (harness) => {
    harness.expectsFailures = true;
    for (const [path, blocked, status] of [
      ['/', '**/main.js', 404],
      ['/m/ABCDEF', '**/main.js', 0],
      // No texts load in either language.
      ['/', '**/locales/initial/*.js', 0],
    ] as const) {
      const page = await harness.openPage('about:blank', { locale: 'de', axe: true });
      await page.route(blocked, (route) => (status ? route.fulfill({ status }) : route.abort()));
      await page.goto(path);
      await page.getByRole('heading', { name: 'Plyhouse konnte nicht geladen werden.' }).waitFor();
      assert.equal(await page.getByText('could not be loaded').isVisible(), false);
      assert.equal(await page.locator('.loading').isVisible(), false);
      await expectAccessible(page, 'not loaded');
      await page.unroute(blocked);
      await page.getByRole('link', { name: 'Neu laden' }).click();
      await page.locator('html[data-link=open]').waitFor();
    }
    // If the script that detects the language is missing, the error appears in all languages after
    // a delay.
    const page = await harness.openPage('about:blank');
    await page.route(/(boot|main)\.js/, (route) => route.abort());
    await page.goto('/');
    assert.equal(await page.getByRole('heading', { name: 'could not be loaded' }).count(), 0);
    for (const name of ['Plyhouse could not be loaded.', 'Plyhouse n’a pas pu être chargé.'])
      await page.getByRole('heading', { name }).waitFor();
  }),
);

test(
  'an unknown URL shows a message, but a trailing slash is ignored',
  withServer(async (harness) => {
    // The browser logs the status code as an error.
    harness.expectsFailures = true;
    for (const path of ['/m/', '/nothing/here']) {
      const page = await harness.openPage(path);
      await page.getByRole('heading', { name: 'There is nothing at this address.' }).waitFor();
      await page.getByRole('link', { name: 'To the lobby' }).click();
      await page.getByRole('button', { name: /^Play the/ }).waitFor();
    }
    const ann = await harness.openPage();
    const eve = await harness.openPage(`${await inviteFriend(ann)}/`);
    await waitForMyTurn(ann);
    await eve.getByText('O · you').waitFor();
  }),
);

test(
  'a URL with invalid encoding shows a message',
  withServer(async (harness) => {
    const page = await harness.openPage('/m/%E0%A4%A');
    await page.waitForFunction(() => document.title.startsWith('There is no match'));
  }),
);
