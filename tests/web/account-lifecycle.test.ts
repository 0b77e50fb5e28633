// Somebody to be: a guest on a laptop goes on by phone, takes a name, plays for ratings, loses both devices, and
// comes back as who they were.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  PASSWORD,
  cell,
  chooseClock,
  openAccountPage,
  barButton,
  inviteFriend,
  waitForMyTurn,
  playMove,
  playMoves,
  waitForStatus,
  signUp,
} from './page-actions.ts';
import { readQrCode } from './qr-reader.ts';
import { closeBrowser, withServer, takeScreenshot } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const LAPTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

/** Whom the server takes this page's player for, from the next connection on. */
function identity(page: Page) {
  let id = '';
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const { type, player } = JSON.parse(String(payload));
      if (type === 'welcome') id = player.id;
    }),
  );
  return () => id;
}

/** What one sees of the games that are over, and of oneself. */
async function seen(page: Page) {
  await page.goto('/games');
  const rows = page.locator('.kind', { hasText: 'Over' }).locator('li');
  await rows.nth(1).waitFor();
  const games = await rows.allInnerTexts();
  await page.goto('/player/ada');
  const chess = page.getByRole('region', { name: 'Connect Four, by the clock' });
  await chess.getByText('1 rated game').waitFor();
  const rating = await chess.getByText(/^1\d\d\d\?$/).innerText();
  const record = await page.getByText(/won, \d+ lost/).innerText();
  return { games, rating, record };
}

test(
  'a guest pairs a phone, goes on there, registers, plays for ratings, loses both, and comes back as the same',
  withServer(async (house) => {
    const laptop = await house.openPage('/', { viewport: LAPTOP });
    const known = identity(laptop);
    await laptop.reload();
    const link = await inviteFriend(laptop, 'Connect Four');
    const bob = await house.openPage(link, { viewport: LAPTOP });
    await playMoves(laptop, bob, 'd1 c1 d1');
    const guest = known();
    assert.notEqual(guest, '');
    const match = new URL(laptop.url()).pathname;

    // The phone sees the picture, and nothing else.
    await openAccountPage(laptop);
    await laptop.getByRole('button', { name: 'Show link and code' }).click();
    const code = laptop.getByRole('img', { name: 'QR code of the link' });
    const scanned = await readQrCode(code);
    assert.equal(scanned, await laptop.getByLabel('Link for the other device').inputValue());
    await takeScreenshot(laptop, 'coming-back-1-laptop-shows');
    const phone = await house.openPage(scanned, {
      viewport: PHONE,
      hasTouch: true,
      isMobile: true,
    });
    const paired = identity(phone);
    await phone.getByRole('button', { name: 'Become that player' }).tap();
    await phone.locator('#toast', { hasText: /^You are guest-\w+ here now\.$/ }).waitFor();
    assert.equal(paired(), guest);
    await laptop.getByText(/is one of your devices now\.$/).waitFor();

    // The same match goes on there, to its end.
    await phone.locator(`.rows li`, { hasText: 'Connect Four' }).getByRole('button').first().tap();
    await phone.waitForURL(`**${match}`);
    await cell(phone, 'd2').and(phone.getByLabel('red')).waitFor();
    await playMove(bob, 'c1');
    await playMoves(phone, bob, 'd1 c1 d1');
    await waitForStatus(phone, 'You win!');
    await waitForStatus(bob, 'You lose.');
    await takeScreenshot(phone, 'coming-back-2-phone-wins');

    // A name of one's own, and a match that counts.
    await signUp(phone, 'ada');
    assert.equal(paired(), guest);
    await takeScreenshot(phone, 'coming-back-3-phone-signed-up');
    await signUp(bob, 'bob');
    await chooseClock(phone, '5+3');
    await phone.getByRole('checkbox', { name: /^Rated/ }).check();
    const rated = await inviteFriend(phone, 'Connect Four');
    await bob.goto(rated);
    await playMoves(phone, bob, 'd1 c1 d1 c1 d1 c1 d1');
    await phone.getByText(/^Your rating: 1\d\d\d\? \(\+\d+\)$/).waitFor();
    await takeScreenshot(phone, 'coming-back-4-phone-rated');
    const before = await seen(phone);
    assert.equal(before.games.length, 2);
    assert.equal(before.record, '2 won, 0 lost, 0 drawn');

    // What one writes down, on either device.
    await laptop.reload();
    await openAccountPage(laptop);
    await laptop.getByRole('button', { name: 'Make a recovery key' }).click();
    await laptop.getByLabel('Your password, or your recovery key').fill(PASSWORD);
    await laptop.keyboard.press('Enter');
    const written = await laptop
      .getByRole('textbox', { name: 'Recovery key', exact: true })
      .inputValue();
    await laptop.getByRole('button', { name: 'I have kept it' }).click();

    // Both are lost, with all that they kept.
    for (const device of [laptop, phone]) {
      await device.evaluate(() => localStorage.clear());
      await device.context().close();
    }
    const other = await house.openPage('/', { viewport: LAPTOP });
    const back = identity(other);
    await openAccountPage(other);
    await other.getByRole('link', { name: 'Enter a code or key' }).click();
    await other.getByLabel('Code or recovery key').fill(written.toLowerCase());
    await takeScreenshot(other, 'coming-back-5-key');
    await other.keyboard.press('Enter');
    await other.getByText('You are ada here now.').waitFor();
    assert.equal(back(), guest);
    const now = await seen(other);
    await takeScreenshot(other, 'coming-back-6-same-rating');
    assert.deepEqual(now, before);
    // And plays whom they played, under the same name.
    await other.goto(rated);
    await barButton(other, 'Rematch').click();
    await bob.getByRole('button', { name: 'Accept' }).click();
    await bob.locator('.player', { hasText: 'ada' }).waitFor();
    await waitForMyTurn(bob);
  }),
);
