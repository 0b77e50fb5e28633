// The same player on several devices: pairing, devices that are logged out, and the recovery key.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { deviceLabel } from '../../client/web/page/ui/device-name.ts';
import { groupCharacters, parseSignInCode } from '../../client/web/page/account/sign-in-codes.ts';
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
} from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 720 };

test('a code and a key are read with what comes along when they are copied', () => {
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

test('a device is called by its browser and its system', () => {
  const check = (agent: string, expect: string | undefined) =>
    assert.equal(deviceLabel(agent), expect, agent);
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

/** Has become another player. */
const became = (page: Page) =>
  page.locator('#toast', { hasText: /^You are guest-\w+ here now\.$/ }).waitFor();

/** The name in the header is this. */
const isCalled = (page: Page, name: string) =>
  page.locator('header .name bdi').getByText(name, { exact: true }).waitFor();

/** The name in the header. */
const nameOf = (page: Page) => page.locator('header .name bdi').innerText();

/** Shows a link for another device, and gives it. */
async function pairing(page: Page) {
  await openAccountPage(page);
  await page.getByRole('button', { name: 'Show link and code' }).click();
  return page.getByLabel('Link for the other device').inputValue();
}

/** What scanners make of the picture: checked by the browser, where it can read such codes. */
const squares = (page: Page) =>
  page.getByRole('img', { name: 'QR code of the link' }).evaluate((image) => {
    const path = image.querySelector('path')?.getAttribute('d') ?? '';
    return { dark: path.split('M').length - 1, box: image.getAttribute('viewBox') };
  });

for (const [size, viewport] of selectVariants(Object.entries({ PHONE, DESKTOP }), 'PHONE')) {
  test(
    `another device is paired by a link, and plays on: ${size.toLowerCase()}`,
    withServer(async (house) => {
      const reducedMotion = 'reduce' as const;
      const ann = await house.openPage('/', { viewport, reducedMotion, axe: true });
      const bob = await house.openPage(await inviteFriend(ann));
      await playMove(ann, 'b2');
      const match = new URL(ann.url()).pathname;
      const link = await pairing(ann);
      assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/pair#[0-9A-Z]{8}$/);
      const { dark, box } = await squares(ann);
      // Version 3 with its border, about half of it dark.
      assert.equal(box, '0 0 37 37');
      assert.ok(dark > 300 && dark < 550, String(dark));
      await ann.getByText(/^Good once, for (5:00|4:5\d)\.$/).waitFor();
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'pairing');
      await takeScreenshot(ann, `pairing-${size}`);

      const phone = await house.openPage(link, { viewport, reducedMotion, axe: true });
      await phone.getByText(/^You are guest-\w+ here now\.$/).waitFor();
      // The code is in sight, and neither in the address nor in what one goes back to.
      assert.equal(new URL(phone.url()).hash, '');
      const code = await phone.getByLabel('Code or recovery key').inputValue();
      assert.equal(code.replace(' ', ''), link.slice(-8));
      await expectNoHorizontalOverflow(phone);
      await expectAccessible(phone, 'arrival');
      await takeScreenshot(phone, `arrival-${size}`);
      assert.notEqual(await nameOf(phone), await nameOf(ann));
      await phone.getByRole('button', { name: 'Become that player' }).click();
      await became(phone);
      await isCalled(phone, await nameOf(ann));

      await ann.getByText(/is one of your devices now\.$/).waitFor();
      await ann.getByText(/^A new device plays as you: Chrome · /).waitFor();
      await ann.locator('.devices li').nth(1).waitFor();
      assert.equal(await ann.locator('.devices li').count(), 2);
      await expectAccessible(ann, 'added');
      await takeScreenshot(ann, `added-${size}`);
      await ann.getByRole('button', { name: 'That was me' }).click();
      await ann.getByText(/^A new device plays as you/).waitFor({ state: 'detached' });

      // The match is at hand there, and goes on.
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
  'nobody gives up unasked who they are, and a wrong code changes nothing',
  withServer(async (house) => {
    const ann = await house.openPage();
    await startBotMatch(ann);
    const name = await nameOf(ann);
    await ann.goto('/pair#K7QM2PXR');
    await ann.getByText(`You are ${name} here now, with 1 match that is not over.`).waitFor();
    await ann.getByRole('button', { name: 'Become that player' }).click();
    const trouble = ann.getByRole('alert');
    await trouble.filter({ hasText: 'This code or key is not good, or no longer.' }).waitFor();
    await ann.getByLabel('Code or recovery key').fill('K7QM');
    await ann.keyboard.press('Enter');
    await trouble.filter({ hasText: 'A code has 8 letters and digits' }).waitFor();
    assert.equal(await nameOf(ann), name);
    await ann.getByRole('link', { name: 'Stay who I am' }).click();
    await ann.getByText('Your matches').waitFor();
    await ann.reload();
    await ann.getByText('Your matches').waitFor();
    await isCalled(ann, name);
    // The link of before, opened from the page itself.
    await ann.goto('/pair');
    await ann.evaluate(() => (location.hash = '#ABCD2345'));
    await ann.waitForFunction(() => location.hash === '');
    await eventually(async () =>
      assert.equal(await ann.getByLabel('Code or recovery key').inputValue(), 'ABCD 2345'),
    );
  }),
);

test(
  'a code is good once, and says when it is over',
  withServer(async (house) => {
    const ann = await house.openPage();
    // What waits by the clock that there was is not called off by the other.
    await ann.locator('html[data-link=open]').waitFor();
    await ann.clock.install();
    const link = await pairing(ann);
    const phone = await house.openPage(link);
    await phone.getByRole('button', { name: 'Become that player' }).click();
    await ann.getByText(/is one of your devices now\.$/).waitFor();
    const other = await house.openPage(link);
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
  'what one is asked by a link comes once it is known who one is, and does not move away',
  withServer(async (house) => {
    const link = await pairing(await house.openPage());
    const phone = await house.openPage();
    let tell = () => {};
    const told = new Promise((resolve) => (tell = () => resolve(null)));
    await phone.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      server.onMessage(async (text) => {
        await told;
        socket.send(text);
      });
    });
    await phone.goto(link);
    await phone.getByRole('heading', { name: 'Become another player here?' }).waitFor();
    const yes = phone.getByRole('button', { name: 'Become that player' });
    assert.equal(await yes.isVisible(), false);
    tell();
    await yes.waitFor();
    await phone.getByText('here now.').waitFor();
  }),
);

/** Ann on two devices. */
async function twoDevices(house: import('./support.ts').TestHarness): Promise<[Page, Page]> {
  const ann = await house.openPage('/', { axe: true });
  const phone = await house.openPage(await pairing(ann), { axe: true });
  await phone.getByRole('button', { name: 'Become that player' }).click();
  await became(phone);
  return [ann, phone];
}

test(
  'a device that somebody else has added is logged out at once',
  withServer(async (house) => {
    const [ann, phone] = await twoDevices(house);
    const name = await nameOf(ann);
    const notice = ann.getByRole('region', { name: 'New devices' });
    await notice.getByRole('button', { name: 'Log out' }).click();
    await ann.getByText('Logged out.', { exact: true }).waitFor();
    await phone.getByText('This device is logged out.').waitFor();
    await expectAccessible(phone, 'logged out');
    await takeScreenshot(phone, 'logged-out');
    // It does not become anybody by itself.
    await phone.getByRole('button', { name: 'Begin as a new guest' }).click();
    await phone.getByRole('button', { name: /^Play the/ }).waitFor();
    await phone.getByText('This device is logged out.').waitFor({ state: 'detached' });
    // Until the server has answered the old name stands there.
    await eventually(async () => assert.notEqual(await nameOf(phone), name));
    assert.equal(await nameOf(ann), name);
  }),
);

test(
  'devices are listed, and logged out one by one or all others together',
  withServer(async (house) => {
    const [ann, phone] = await twoDevices(house);
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

    // A device that is logged out comes back by a code.
    await ann.getByRole('button', { name: 'Show link and code' }).click();
    const link = await ann.getByLabel('Link for the other device').inputValue();
    await phone.getByRole('link', { name: 'Come back' }).click();
    await phone.getByLabel('Code or recovery key').fill('ABCD2345');
    await phone.keyboard.press('Enter');
    await phone.getByRole('alert').filter({ hasText: 'not good' }).waitFor();
    await phone.getByText('This device is logged out.').waitFor();
    await phone.getByLabel('Code or recovery key').fill(link);
    await phone.keyboard.press('Enter');
    await became(phone);
    await phone.getByText('This device is logged out.').waitFor({ state: 'detached' });

    await rows.nth(1).waitFor();
    await ann.getByRole('button', { name: 'Log out all others' }).click();
    await phone.getByText('This device is logged out.').waitFor();
    await rows.nth(1).waitFor({ state: 'detached' });
    // Oneself last, and not by one slip.
    await ann.getByRole('button', { name: /^Log out: / }).click();
    await ann.getByText(/^Log out here\?/).waitFor();
    await expectAccessible(ann, 'log out');
    await ann.getByRole('button', { name: 'Log out', exact: true }).click();
    await ann.getByText('This device is logged out.').waitFor();
  }),
);

test(
  'whoever has lost all devices comes back with the recovery key',
  withServer(async (house) => {
    const ann = await house.openPage('/', { viewport: PHONE, axe: true });
    await startBotMatch(ann);
    await playMove(ann, 'b2');
    const name = await nameOf(ann);
    await openAccountPage(ann);
    await takeScreenshot(ann, 'you-phone');
    await expectAccessible(ann, 'you');
    await expectNoHorizontalOverflow(ann);
    await ann.getByRole('button', { name: 'Make a recovery key' }).click();
    const dialog = ann.getByRole('dialog', { name: `The recovery key of ${name}` });
    const key = await dialog.getByLabel('Recovery key').inputValue();
    assert.match(key, /^([A-Z2-7]{5}-){4}[A-Z2-7]{6}$/);
    const coming = ann.waitForEvent('download');
    await dialog.getByRole('link', { name: 'Save as a file' }).click();
    const stream = await (await coming).createReadStream();
    let text = '';
    for await (const chunk of stream) text += chunk;
    assert.match(text, new RegExp(`${name}.*/pair: ${key}\n$`));
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'recovery');
    await takeScreenshot(ann, 'recovery-phone');
    // On paper there is nothing else.
    await ann.emulateMedia({ media: 'print' });
    assert.ok(await dialog.getByLabel('Recovery key').isVisible());
    assert.ok(!(await ann.locator('main').isVisible()));
    assert.ok(!(await dialog.getByRole('button', { name: 'Print' }).isVisible()));
    await ann.emulateMedia({ media: 'screen' });
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await ann.context().clearCookies();
    await ann.evaluate(() => localStorage.clear());
    await ann.close();

    const other = await house.openPage();
    await openAccountPage(other);
    await other.getByRole('link', { name: 'Enter a code or key' }).click();
    await other.getByLabel('Code or recovery key').fill(key.toLowerCase());
    await other.keyboard.press('Enter');
    await became(other);
    await isCalled(other, name);
    await other.getByText('Your matches').waitFor();
  }),
);

test(
  'a guest who wins for the first time is asked to keep it, once',
  withServer(async (house) => {
    const ann = await house.openPage('/', { viewport: PHONE, reducedMotion: 'reduce', axe: true });
    const bob = await house.openPage(await inviteFriend(ann, 'Connect Four'));
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
    // The second time, nothing is asked.
    await barButton(ann, 'Rematch').click();
    await bob.getByRole('button', { name: 'Accept' }).click();
    await playMoves(bob, ann, 'd1 c1 d1 c1 d1 c1 e1 c1');
    await ann.getByRole('heading', { name: 'You win!' }).waitFor();
    assert.ok(!(await ann.getByText(question).isVisible()));
  }),
);
