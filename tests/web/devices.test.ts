// Tests a player with several devices: pairing, logging out and the recovery key.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { deviceLabel } from '../../client/web/page/ui/device-name.ts';
import {
  groupCharacters,
  parseSignInCode,
} from '../../client/web/page/account/parse-sign-in-code.ts';
import {
  expectNoHorizontalOverflow,
  openAccountPage,
  barButton,
  inviteFriend,
  expectAccessible,
  waitForMyTurn,
  playMove,
  playMoves,
  startBotMatch,
  waitForOwnName,
} from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page, TestHarness } from './support.ts';

after(closeBrowser);

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 720 };

test('pairing codes and recovery keys are found in copied text', () => {
  for (const text of [
    'K7QM2PXR',
    ' k7qm 2pxr\n',
    'k7qm-2pxr',
    'http://127.0.0.1:7878/pair#K7QM2PXR',
    'Go on here: https://play.example.org/pair#k7qm2pxr now',
  ]) {
    assert.deepEqual(parseSignInCode(text), { pair: 'K7QM2PXR' }, text);
  }
  const key = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  for (const text of [key, groupCharacters(key, 5, '-'), groupCharacters(key.toLowerCase(), 4)]) {
    assert.deepEqual(parseSignInCode(text), { recovery: key }, text);
  }
  for (const text of ['', 'K7QM2PX', 'K7QM2PXRR', `${key}A`, `0${key.slice(1)}`]) {
    assert.equal(parseSignInCode(text), null, text);
  }
});

test('a device is named after its browser and operating system', () => {
  const check = (agent: string, expected: string | undefined) =>
    assert.equal(deviceLabel(agent), expected, agent);
  check(
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge · Windows',
  );
  check(
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
    'Chrome · Android',
  );
  check(
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari · iPhone',
  );
  check(
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'Firefox · Linux',
  );
  check('curl', undefined);
});

const waitForNewPlayer = (page: Page) =>
  page.locator('#toast', { hasText: /^You are guest-\w+ here now\.$/ }).waitFor();

const readOwnName = (page: Page) => page.locator('header .name bdi').innerText();

async function createPairingLink(page: Page) {
  await openAccountPage(page);
  await page.getByRole('button', { name: 'Show link and code' }).click();
  return page.getByLabel('Link for the other device').inputValue();
}

/** Counts the dark modules of the QR code, and reads its view box. */
const measureQrCode = (page: Page) =>
  page.getByRole('img', { name: 'QR code of the link' }).evaluate((image) => {
    const path = image.querySelector('path')?.getAttribute('d') ?? '';
    return { dark: path.split('M').length - 1, viewBox: image.getAttribute('viewBox') };
  });

for (const [size, viewport] of selectVariants(Object.entries({ PHONE, DESKTOP }), 'PHONE')) {
  test(
    `a device is paired by a link and continues the match: ${size.toLowerCase()}`,
    withServer(async (harness) => {
      const reducedMotion = 'reduce' as const;
      const ann = await harness.openPage('/', { viewport, reducedMotion, axe: true });
      const bob = await harness.openPage(await inviteFriend(ann));
      await playMove(ann, 'b2');
      const match = new URL(ann.url()).pathname;
      const link = await createPairingLink(ann);
      assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/pair#[0-9A-Z]{8}$/);
      const { dark, viewBox } = await measureQrCode(ann);
      // Version 3 with its border has 37 modules, about half of them dark.
      assert.equal(viewBox, '0 0 37 37');
      assert.ok(dark > 300 && dark < 550, String(dark));
      await ann.getByText(/^Good once, for (5:00|4:5\d)\.$/).waitFor();
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'pairing');
      await takeScreenshot(ann, `pairing-${size}`);

      const phone = await harness.openPage(link, { viewport, reducedMotion, axe: true });
      await phone.getByText(/^You are guest-\w+ here now\.$/).waitFor();
      // The page shows the code and removes it from the URL.
      assert.equal(new URL(phone.url()).hash, '');
      const code = await phone.getByLabel('Code or recovery key').inputValue();
      assert.equal(code.replace(' ', ''), link.slice(-8));
      await expectNoHorizontalOverflow(phone);
      await expectAccessible(phone, 'arrival');
      await takeScreenshot(phone, `arrival-${size}`);
      assert.notEqual(await readOwnName(phone), await readOwnName(ann));
      await phone.getByRole('button', { name: 'Become that player' }).click();
      await waitForNewPlayer(phone);
      await waitForOwnName(phone, await readOwnName(ann));

      await ann.getByText(/is one of your devices now\.$/).waitFor();
      await ann.getByText(/^A new device plays as you: Chrome · /).waitFor();
      await ann.locator('.devices li').nth(1).waitFor();
      assert.equal(await ann.locator('.devices li').count(), 2);
      await expectAccessible(ann, 'added');
      await takeScreenshot(ann, `added-${size}`);
      await ann.getByRole('button', { name: 'That was me' }).click();
      await ann.getByText(/^A new device plays as you/).waitFor({ state: 'detached' });

      // The match continues on the paired device.
      await phone
        .getByRole('link', { name: 'Go on' })
        .or(phone.getByRole('button', { name: /^Go on/ }))
        .click();
      await phone.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
      await playMove(bob, 'a1');
      await waitForMyTurn(phone);
      await playMove(phone, 'c3');
      await ann.goto(match);
      await ann.getByRole('gridcell', { name: /^c3, x/ }).waitFor();
    }),
  );
}

test(
  'pairing needs a confirmation, and a wrong code changes nothing',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await startBotMatch(ann);
    const name = await readOwnName(ann);
    await ann.goto('/pair#K7QM2PXR');
    await ann.getByText(`You are ${name} here now, with 1 match that is not over.`).waitFor();
    await ann.getByRole('button', { name: 'Become that player' }).click();
    const alert = ann.getByRole('alert');
    await alert.filter({ hasText: 'This code or key is not good, or no longer.' }).waitFor();
    await ann.getByLabel('Code or recovery key').fill('K7QM');
    await ann.keyboard.press('Enter');
    await alert.filter({ hasText: 'A code has 8 letters and digits' }).waitFor();
    assert.equal(await readOwnName(ann), name);
    await ann.getByRole('link', { name: 'Stay who I am' }).click();
    await ann.getByText('Your matches').waitFor();
    await ann.reload();
    await ann.getByText('Your matches').waitFor();
    await waitForOwnName(ann, name);
    // A pairing link is opened within the page.
    await ann.goto('/pair');
    await ann.evaluate(() => (location.hash = '#ABCD2345'));
    await ann.waitForFunction(() => location.hash === '');
    await eventually(async () =>
      assert.equal(await ann.getByLabel('Code or recovery key').inputValue(), 'ABCD 2345'),
    );
  }),
);

test(
  'a pairing code is valid once and shows when it has expired',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    // The fake clock cannot cancel timers of the real one, so the page connects first.
    await ann.locator('html[data-link=open]').waitFor();
    await ann.clock.install();
    const link = await createPairingLink(ann);
    const phone = await harness.openPage(link);
    await phone.getByRole('button', { name: 'Become that player' }).click();
    await ann.getByText(/is one of your devices now\.$/).waitFor();
    const other = await harness.openPage(link);
    await other.getByRole('button', { name: 'Become that player' }).click();
    await other.getByRole('alert').filter({ hasText: 'not good' }).waitFor();
    await ann.getByRole('button', { name: 'Show link and code' }).click();
    await ann.getByLabel('Link for the other device').waitFor();
    await ann.clock.runFor('05:01');
    await ann.getByText('The code is not good any more.').waitFor();
    assert.equal(await ann.getByLabel('Link for the other device').count(), 0);
    await ann.getByRole('button', { name: 'Show link and code' }).waitFor();
  }),
);

test(
  'the question of a pairing link appears after the login',
  withServer(async (harness) => {
    const link = await createPairingLink(await harness.openPage());
    const phone = await harness.openPage();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await phone.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      server.onMessage(async (text) => {
        await released;
        socket.send(text);
      });
    });
    await phone.goto(link);
    await phone.getByRole('heading', { name: 'Become another player here?' }).waitFor();
    const confirm = phone.getByRole('button', { name: 'Become that player' });
    assert.equal(await confirm.isVisible(), false);
    release();
    await confirm.waitFor();
    await phone.getByText('here now.').waitFor();
  }),
);

/** Opens the pages of one player on two devices. */
async function openTwoDevices(harness: TestHarness): Promise<[Page, Page]> {
  const ann = await harness.openPage('/', { axe: true });
  const phone = await harness.openPage(await createPairingLink(ann), { axe: true });
  await phone.getByRole('button', { name: 'Become that player' }).click();
  await waitForNewPlayer(phone);
  return [ann, phone];
}

test(
  'a new device can be logged out from its notice',
  withServer(async (harness) => {
    const [ann, phone] = await openTwoDevices(harness);
    const name = await readOwnName(ann);
    const notice = ann.getByRole('region', { name: 'New devices' });
    await notice.getByRole('button', { name: 'Log out' }).click();
    await ann.getByText('Logged out.', { exact: true }).waitFor();
    await phone.getByText('This device is logged out.').waitFor();
    await expectAccessible(phone, 'logged out');
    await takeScreenshot(phone, 'logged-out');
    // The device waits for the user before it becomes a new guest.
    await phone.getByRole('button', { name: 'Begin as a new guest' }).click();
    await phone.getByRole('button', { name: /^Play the/ }).waitFor();
    await phone.getByText('This device is logged out.').waitFor({ state: 'detached' });
    // The old name remains until the server replies.
    await eventually(async () => assert.notEqual(await readOwnName(phone), name));
    assert.equal(await readOwnName(ann), name);
  }),
);

test(
  'devices are listed, and logged out singly or all others together',
  withServer(async (harness) => {
    const [ann, phone] = await openTwoDevices(harness);
    await ann.getByRole('button', { name: 'That was me' }).click();
    const rows = ann.locator('.devices li');
    await rows.nth(1).waitFor();
    await rows.nth(0).filter({ hasText: 'this one' }).waitFor();
    await rows
      .nth(1)
      .filter({ hasText: /Chrome · Linux.*connected · browser · since/s })
      .waitFor();
    await rows.nth(1).getByRole('button').focus();
    await ann.keyboard.press('Enter');
    await phone.getByText('This device is logged out.').waitFor();
    await rows.nth(1).waitFor({ state: 'detached' });
    await rows.nth(0).locator('button:focus').waitFor();

    // A pairing code logs the device in again.
    await ann.getByRole('button', { name: 'Show link and code' }).click();
    const link = await ann.getByLabel('Link for the other device').inputValue();
    await phone.getByRole('link', { name: 'Come back' }).click();
    await phone.getByLabel('Code or recovery key').fill('ABCD2345');
    await phone.keyboard.press('Enter');
    await phone.getByRole('alert').filter({ hasText: 'not good' }).waitFor();
    await phone.getByText('This device is logged out.').waitFor();
    await phone.getByLabel('Code or recovery key').fill(link);
    await phone.keyboard.press('Enter');
    await waitForNewPlayer(phone);
    await phone.getByText('This device is logged out.').waitFor({ state: 'detached' });

    await rows.nth(1).waitFor();
    await ann.getByRole('button', { name: 'Log out all others' }).click();
    await phone.getByText('This device is logged out.').waitFor();
    await rows.nth(1).waitFor({ state: 'detached' });
    // Logging out this device needs a confirmation.
    await ann.getByRole('button', { name: /^Log out: / }).click();
    await ann.getByText(/^Log out here\?/).waitFor();
    await expectAccessible(ann, 'log out');
    await ann.getByRole('button', { name: 'Log out', exact: true }).click();
    await ann.getByText('This device is logged out.').waitFor();
  }),
);

test(
  'the recovery key restores a player without devices',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { viewport: PHONE, axe: true });
    await startBotMatch(ann);
    await playMove(ann, 'b2');
    const name = await readOwnName(ann);
    await openAccountPage(ann);
    await takeScreenshot(ann, 'you-phone');
    await expectAccessible(ann, 'you');
    await expectNoHorizontalOverflow(ann);
    await ann.getByRole('button', { name: 'Make a recovery key' }).click();
    const dialog = ann.getByRole('dialog', { name: `The recovery key of ${name}` });
    const key = await dialog.getByLabel('Recovery key').inputValue();
    assert.match(key, /^([A-Z2-7]{5}-){4}[A-Z2-7]{6}$/);
    const download = ann.waitForEvent('download');
    await dialog.getByRole('link', { name: 'Save as a file' }).click();
    const stream = await (await download).createReadStream();
    let text = '';
    for await (const chunk of stream) text += chunk;
    assert.match(text, new RegExp(`${name}.*/pair: ${key}\n$`));
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'recovery');
    await takeScreenshot(ann, 'recovery-phone');
    // Only the key is printed.
    await ann.emulateMedia({ media: 'print' });
    assert.ok(await dialog.getByLabel('Recovery key').isVisible());
    assert.ok(!(await ann.locator('main').isVisible()));
    assert.ok(!(await dialog.getByRole('button', { name: 'Print' }).isVisible()));
    await ann.emulateMedia({ media: 'screen' });
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await ann.context().clearCookies();
    await ann.evaluate(() => localStorage.clear());
    await ann.close();

    const other = await harness.openPage();
    await openAccountPage(other);
    await other.getByRole('link', { name: 'Enter a code or key' }).click();
    await other.getByLabel('Code or recovery key').fill(key.toLowerCase());
    await other.keyboard.press('Enter');
    await waitForNewPlayer(other);
    await waitForOwnName(other, name);
    await other.getByText('Your matches').waitFor();
  }),
);

test(
  'the first win of a guest suggests a recovery key or account, once',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', {
      viewport: PHONE,
      reducedMotion: 'reduce',
      axe: true,
    });
    const bob = await harness.openPage(await inviteFriend(ann, 'Connect Four'));
    const question = /^Your name and your games are in this browser alone\./;
    await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
    await ann.getByText(question).waitFor();
    await expectAccessible(ann, 'keep');
    await expectNoHorizontalOverflow(ann);
    await takeScreenshot(ann, 'keep-phone');
    await bob.getByRole('heading', { name: 'You lose.' }).waitFor();
    assert.equal(await bob.getByText(question).count(), 1);
    assert.ok(!(await bob.getByText(question).isVisible()));
    await ann.getByRole('link', { name: 'Keep them' }).click();
    await ann.getByRole('button', { name: 'Make a recovery key' }).waitFor();
    await ann.goBack();
    // The second win suggests nothing.
    await barButton(ann, 'Rematch').click();
    await bob.getByRole('button', { name: 'Accept' }).click();
    await playMoves(bob, ann, 'd1 c1 d1 c1 d1 c1 e1 c1');
    await ann.getByRole('heading', { name: 'You win!' }).waitFor();
    assert.ok(!(await ann.getByText(question).isVisible()));
  }),
);
