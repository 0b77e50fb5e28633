// Tests the life of a player: a guest pairs a phone, registers, plays rated matches, loses both
// devices and recovers the account.

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

/** Returns a function that gives the player's ID, once the page has connected again. */
function trackPlayerId(page: Page) {
  let id = '';
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const { type, player } = JSON.parse(String(payload));
      if (type === 'welcome') id = player.id;
    }),
  );
  return () => id;
}

/** Reads the list of finished games, and the rating and record of the player `ada`. */
async function readResults(page: Page) {
  await page.goto('/games');
  const rows = page.locator('.kind', { hasText: 'Over' }).locator('li');
  await rows.nth(1).waitFor();
  const games = await rows.allInnerTexts();
  await page.goto('/player/ada');
  const rated = page.getByRole('region', { name: 'Connect Four, by the clock' });
  await rated.getByText('1 rated game').waitFor();
  const rating = await rated.getByText(/^1\d\d\d\?$/).innerText();
  const record = await page.getByText(/won, \d+ lost/).innerText();
  return { games, rating, record };
}

test(
  'a guest pairs a phone, registers, plays a rated match, loses both devices and recovers the account',
  withServer(async (harness) => {
    const laptop = await harness.openPage('/', { viewport: LAPTOP });
    const laptopPlayer = trackPlayerId(laptop);
    await laptop.reload();
    const link = await inviteFriend(laptop, 'Connect Four');
    const bob = await harness.openPage(link, { viewport: LAPTOP });
    await playMoves(laptop, bob, 'd1 c1 d1');
    const guest = laptopPlayer();
    assert.notEqual(guest, '');
    const match = new URL(laptop.url()).pathname;

    // The phone scans the QR code.
    await openAccountPage(laptop);
    await laptop.getByRole('button', { name: 'Show link and code' }).click();
    const code = laptop.getByRole('img', { name: 'QR code of the link' });
    const scanned = await readQrCode(code);
    assert.equal(scanned, await laptop.getByLabel('Link for the other device').inputValue());
    await takeScreenshot(laptop, 'coming-back-1-laptop-shows');
    const phone = await harness.openPage(scanned, {
      viewport: PHONE,
      hasTouch: true,
      isMobile: true,
    });
    const phonePlayer = trackPlayerId(phone);
    await phone.getByRole('button', { name: 'Become that player' }).tap();
    await phone.locator('#toast', { hasText: /^You are guest-\w+ here now\.$/ }).waitFor();
    assert.equal(phonePlayer(), guest);
    await laptop.getByText(/is one of your devices now\.$/).waitFor();

    // The match continues on the phone.
    await phone.locator(`.rows li`, { hasText: 'Connect Four' }).getByRole('button').first().tap();
    await phone.waitForURL(`**${match}`);
    await cell(phone, 'd2').and(phone.getByLabel('red')).waitFor();
    await playMove(bob, 'c1');
    await playMoves(phone, bob, 'd1 c1 d1');
    await waitForStatus(phone, 'You win!');
    await waitForStatus(bob, 'You lose.');
    await takeScreenshot(phone, 'coming-back-2-phone-wins');

    // The player registers and plays a rated match.
    await signUp(phone, 'ada');
    assert.equal(phonePlayer(), guest);
    await takeScreenshot(phone, 'coming-back-3-phone-signed-up');
    await signUp(bob, 'bob');
    await chooseClock(phone, '5+3');
    await phone.getByRole('checkbox', { name: /^Rated/ }).check();
    const rated = await inviteFriend(phone, 'Connect Four');
    await bob.goto(rated);
    await playMoves(phone, bob, 'd1 c1 d1 c1 d1 c1 d1');
    await phone.getByText(/^Your rating: 1\d\d\d\? \(\+\d+\)$/).waitFor();
    await takeScreenshot(phone, 'coming-back-4-phone-rated');
    const before = await readResults(phone);
    assert.equal(before.games.length, 2);
    assert.equal(before.record, '2 won, 0 lost, 0 drawn');

    // The laptop shows a recovery key.
    await laptop.reload();
    await openAccountPage(laptop);
    await laptop.getByRole('button', { name: 'Make a recovery key' }).click();
    await laptop.getByLabel('Your password, or your recovery key').fill(PASSWORD);
    await laptop.keyboard.press('Enter');
    const recoveryKey = await laptop
      .getByRole('textbox', { name: 'Recovery key', exact: true })
      .inputValue();
    await laptop.getByRole('button', { name: 'I have kept it' }).click();

    // Both devices are lost with their stored data.
    for (const device of [laptop, phone]) {
      await device.evaluate(() => localStorage.clear());
      await device.context().close();
    }
    const other = await harness.openPage('/', { viewport: LAPTOP });
    const recoveredPlayer = trackPlayerId(other);
    await openAccountPage(other);
    await other.getByRole('link', { name: 'Enter a code or key' }).click();
    await other.getByLabel('Code or recovery key').fill(recoveryKey.toLowerCase());
    await takeScreenshot(other, 'coming-back-5-key');
    await other.keyboard.press('Enter');
    await other.getByText('You are ada here now.').waitFor();
    assert.equal(recoveredPlayer(), guest);
    const recovered = await readResults(other);
    await takeScreenshot(other, 'coming-back-6-same-rating');
    assert.deepEqual(recovered, before);
    // The opponent sees the old name in a rematch.
    await other.goto(rated);
    await barButton(other, 'Rematch').click();
    await bob.getByRole('button', { name: 'Accept' }).click();
    await bob.locator('.player', { hasText: 'ada' }).waitFor();
    await waitForMyTurn(bob);
  }),
);
