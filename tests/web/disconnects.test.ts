// What must not break it: lost connections, killed servers, second tabs, refusals, odd names.

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
  'a page that is loaded anew is in the same match',
  withServer(async (house) => {
    const page = await house.openPage();
    await startBotMatch(page);
    await playMove(page, 'b2');
    await waitForMyTurn(page);
    const before = await countMoves(page);
    await page.reload();
    await waitForMyTurn(page);
    assert.equal(await countMoves(page), before);
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
    // The secret is kept, and never in an address.
    const token = await page.evaluate(() => localStorage.getItem('plyhouse.token'));
    assert.ok(token && token.length >= 20 && !page.url().includes(token));
  }),
);

test(
  'a match goes on after the server was killed',
  withServer(async (house) => {
    house.expectsFailures = true;
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann));
    const eve = await house.openPage(new URL(ann.url()).pathname);
    await playMove(ann, 'b2');
    await eve.getByRole('gridcell', { name: 'b2, x, last move' }).waitFor();
    await house.server.kill();
    for (const page of [ann, bob, eve]) {
      await page.getByText('Next try in').waitFor();
      await waitForStatus(page, 'Waiting for the connection');
    }
    await expectTitle(bob, /^(?!.*Your turn)/);
    await takeScreenshot(bob, 'disconnected');
    assert.deepEqual(await legalSquares(bob), []);
    await house.server.start();
    for (const page of [ann, bob, eve])
      await page.getByText('Next try in').waitFor({ state: 'hidden' });
    await playMove(bob, 'a1');
    await playMove(ann, 'c3');
    await eve.getByRole('gridcell', { name: 'c3, x, last move' }).waitFor();
  }),
);

test(
  'a lost connection comes back, with the move that was under way',
  withServer(async (house) => {
    const page = await house.openPage();
    await startBotMatch(page);
    await waitForMyTurn(page);
    await page.evaluate(() => {
      // The move goes out, and the socket dies before anything comes back.
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
  'a connection that only looks alive is given up, as after sleep',
  withServer(async (house) => {
    const page = await house.openPage();
    let asleep = false;
    await page.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      const dead = () => asleep;
      let lost = false;
      socket.onMessage((text) => (lost ||= dead()) || server.send(text));
      server.onMessage((text) => (lost ||= dead()) || socket.send(text));
    });
    await page.reload();
    await startBotMatch(page);
    await playMove(page, 'b2');
    await waitForMyTurn(page);
    asleep = true;
    // Whoever opens the lid looks at the page: it asks whether anybody is there.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('The server does not answer.').waitFor();
    asleep = false;
    await page.getByText('Next try in').waitFor({ state: 'hidden' });
    await waitForMyTurn(page);
    const [square = ''] = await legalSquares(page);
    await playMove(page, square);
  }),
);

test(
  'a move without an answer is told of, and sent again over another connection',
  withServer(async (house) => {
    const page = await house.openPage('/', { viewport: { width: 320, height: 640 } });
    let isSilent = false;
    let connections = 0;
    await page.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      const own = ++connections;
      const isLost = () => isSilent && own === 1;
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
    // What is told lies over the page, and pushes nothing away.
    assert.deepEqual(await page.locator('.surface').boundingBox(), before);
    await takeScreenshot(page, 'no-answer-phone');
    await page.locator('.moves button').nth(1).waitFor();
    assert.equal(connections, 2);
    await page.getByText('No answer yet …').waitFor({ state: 'hidden' });
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
  }),
);

test(
  'a second tab takes over, and the first takes it back',
  withServer(async (house) => {
    const first = await house.openPage();
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
  'a search ends in the tab that was replaced, and goes on after a loss',
  withServer(async (house) => {
    house.expectsFailures = true;
    const eve = await house.openPage();
    const first = await house.openPage();
    await first.getByRole('button', { name: 'Find an opponent' }).click();
    await first.getByText('bot sits down in').waitFor();
    // The server has taken it: what it has not would be told of as lost.
    await eve.getByRole('button', { name: /^Play: guest-/ }).waitFor();
    await house.server.kill();
    await first.getByText('The search goes on as soon as there is a connection.').waitFor();
    await house.server.start();
    await first.getByText('bot sits down in').waitFor();
    const second = await first.context().newPage();
    await second.goto('/');
    await second.getByRole('button', { name: 'Find an opponent' }).waitFor();
    await first.getByText('You are playing in another tab or window now.').waitFor();
    assert.equal(await first.locator('#toast').innerText(), '');
    // Nothing can be begun here until it is taken back.
    assert.equal(await first.locator('.lobby').getAttribute('inert'), '');
    await first.getByRole('button', { name: 'Take it back here' }).click();
    await first.getByRole('button', { name: 'Find an opponent' }).click();
    await first.getByText('bot sits down in').waitFor();
  }),
);

test(
  'a refused move is taken back with the reason',
  withServer(async (house) => {
    const page = await house.openPage();
    let asked = (_refuse: () => void) => {};
    const refusal = new Promise((resolve: (refuse: () => void) => void) => {
      asked = resolve;
    });
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
        asked(() => socket.send(JSON.stringify(error)));
      });
    });
    await page.reload();
    await startBotMatch(page);
    await waitForMyTurn(page);
    await cell(page, 'b2').click();
    // At once, and before there is an answer.
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
    const refuse = await refusal;
    refuse();
    await page.getByText('Your move was not played. The square is haunted.').waitFor();
    await page.getByRole('gridcell', { name: 'b2, empty' }).waitFor();
    await waitForMyTurn(page);
  }),
);

test(
  'who is gone is told, and loses in the end',
  withServer(
    async (house) => {
      const ann = await house.openPage();
      const bob = await house.openPage(await inviteFriend(ann));
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
  'a name made of markup stays text',
  withServer(async (house) => {
    const ann = await house.openPage();
    const name = '<img src=x onerror=a()>';
    await openRenameDialog(ann);
    await ann.getByLabel('What others see').fill(name);
    await ann.getByRole('button', { name: 'Use this name' }).click();
    await ann.locator('header .name', { hasText: name }).waitFor();
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    const bob = await house.openPage(await inviteFriend(ann));
    await bob.locator('.player', { hasText: name }).waitFor();
    assert.equal(await bob.locator('main img').count(), 0);
  }),
);

test(
  'a name that is not to be had costs nobody their own',
  withServer(async (house) => {
    const page = await house.openPage();
    const rename = page.locator('header .name');
    await page.locator('.name', { hasText: 'guest-' }).waitFor();
    const before = await rename.innerText();
    await openRenameDialog(page);
    await page.getByLabel('What others see').fill('a\u202eb');
    const use = page.getByRole('button', { name: 'Use this name' });
    await use.click();
    await page.getByRole('alert').filter({ hasText: 'A name cannot contain U+202E.' }).waitFor();
    await page.locator('.banner').waitFor({ state: 'hidden' });
    // Neither do these close the dialog without a word.
    for (const [name, why] of [
      ['   ', 'A name has at least one character.'],
      ['x'.repeat(25), 'A name has at most 24 characters; this one has 25.'],
    ] as const) {
      await page.getByLabel('What others see').fill(name);
      await use.click();
      await page.getByRole('alert').filter({ hasText: why }).waitFor();
    }
    await takeScreenshot(page, 'name');
    await page.keyboard.press('Escape');
    assert.equal(await rename.innerText(), before);
    // Characters are counted as people and the server do.
    await page.getByRole('button', { name: 'Choose a name' }).click();
    await page.getByLabel('What others see').fill('😀'.repeat(24));
    await use.click();
    await page.locator('.name', { hasText: '😀'.repeat(24) }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }),
);

test(
  'whoever sits in a match is told when the name can be changed',
  withServer(async (house) => {
    const page = await house.openPage();
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
  'a match is opened by its code or by a pasted link',
  withServer(async (house) => {
    const ann = await house.openPage();
    const link = await inviteFriend(ann);
    const bob = await house.openPage('/', { viewport: { width: 390, height: 844 } });
    const code = bob.getByLabel('A friend gave you a code?');
    // What comes late would move it.
    await bob.getByText('Watch two bots play').waitFor();
    await code.fill('4vz');
    await code.press('Enter');
    const trouble = bob.getByRole('alert');
    await expectInViewport(trouble.filter({ hasText: 'A code has six letters and digits.' }));
    await code.fill(` ${link} `);
    assert.equal(await code.inputValue(), link.slice(-6));
    await code.fill(` ${link.slice(-6).toLowerCase()} `);
    await bob.getByRole('button', { name: 'Open', exact: true }).click();
    await waitForMyTurn(ann);
    await bob.waitForURL(link);
  }),
);

test(
  'a match that is none says so',
  withServer(async (house) => {
    const page = await house.openPage('/m/ZZZZZZ');
    await page.getByText('There is no match with this code now.').waitFor();
    await page.getByRole('link', { name: 'To the lobby' }).click();
    await page.getByRole('button', { name: /^Play the/ }).waitFor();
  }),
);

test(
  'a match that cannot be given now is asked for again',
  withServer(async (house) => {
    const ann = await house.openPage();
    const eve = await house.openPage();
    let refusals = 2;
    let seen = () => {};
    const isSeen = new Promise((resolve) => (seen = () => resolve(null)));
    await eve.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      socket.onMessage(async (text) => {
        const { type, id } = JSON.parse(String(text));
        if (type !== 'join' || refusals-- <= 0) return server.send(text);
        // It is asked again in a second: what the first answer is told by stands until the next one.
        if (refusals === 0) await isSeen;
        const error = {
          type: 'error',
          re: id,
          code: refusals === 0 ? 'overloaded' : 'rate_limited',
          message: 'not now',
          retryable: true,
          ...(refusals === 0 ? { retry_after_ms: 100 } : {}),
        };
        socket.send(JSON.stringify(error));
      });
    });
    const link = await inviteFriend(ann);
    await eve.goto(link);
    await eve.getByRole('heading', { name: 'Too many requests.' }).waitFor();
    await eve.getByText('Trying again in a moment …').waitFor();
    await expectTitle(eve, 'Trying again … – Plyhouse');
    seen();
    await eve.getByRole('grid').waitFor();
    // The server was only busy: one sits there, and does not only watch.
    await playMove(ann, 'b2');
    await waitForMyTurn(eve);
  }),
);

test(
  'an impatient click makes one match',
  withServer(async (house) => {
    const page = await house.openPage();
    await page.getByRole('button', { name: /^Play the/ }).dblclick();
    await waitForMyTurn(page);
    await page.goto(new URL('/', page.url()).href);
    const mine = page.getByRole('button', { name: /^Your turn: / });
    await mine.first().waitFor();
    assert.equal(await mine.count(), 1);
  }),
);

test(
  'a page that is slow to come says so, and without scripts that it needs them',
  withServer(async (house) => {
    const slow = await house.openPage('about:blank');
    await slow.route('**/main.js', () => {});
    await slow.goto('/', { waitUntil: 'commit' });
    await slow.getByRole('status').filter({ hasText: '…' }).waitFor();
    const late = await house.openPage('about:blank');
    await late.route('**/match.js', () => {});
    await late.goto('/m/ABCDEF', { waitUntil: 'commit' });
    await late.getByText('Loading …').waitFor();
    const plain = await house.openPage('/', { javaScriptEnabled: false });
    await plain.getByRole('heading', { name: 'Plyhouse needs JavaScript.' }).waitFor();
    assert.equal(await plain.locator('.loading').isVisible(), false);
  }),
);

test(
  'a page that does not come says so, and is loaded anew',
  withServer(async (house) => {
    house.expectsFailures = true;
    for (const [path, blocked, status] of [
      ['/', '**/main.js', 404],
      ['/m/ABCDEF', '**/main.js', 0],
      // Neither language comes, and the page ends where it has hardly begun.
      ['/', '**/locales/initial/*.js', 0],
    ] as const) {
      const page = await house.openPage('about:blank', { locale: 'de', axe: true });
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
    // Where not even what knows the language has come, it is said in each, after a while.
    const page = await house.openPage('about:blank');
    await page.route(/(boot|main)\.js/, (route) => route.abort());
    await page.goto('/');
    assert.equal(await page.getByRole('heading', { name: 'could not be loaded' }).count(), 0);
    for (const name of ['Plyhouse could not be loaded.', 'Plyhouse n’a pas pu être chargé.'])
      await page.getByRole('heading', { name }).waitFor();
  }),
);

test(
  'an address that leads to nothing says so',
  withServer(async (house) => {
    // The browser complains of the status.
    house.expectsFailures = true;
    for (const path of ['/m/', '/nothing/here']) {
      const page = await house.openPage(path);
      await page.getByRole('heading', { name: 'There is nothing at this address.' }).waitFor();
      await page.getByRole('link', { name: 'To the lobby' }).click();
      await page.getByRole('button', { name: /^Play the/ }).waitFor();
    }
    const ann = await house.openPage();
    const eve = await house.openPage(`${await inviteFriend(ann)}/`);
    await waitForMyTurn(ann);
    await eve.getByText('O · you').waitFor();
  }),
);

test(
  'an address that spells nothing is told',
  withServer(async (house) => {
    const page = await house.openPage('/m/%E0%A4%A');
    await page.waitForFunction(() => document.title.startsWith('There is no match'));
  }),
);
