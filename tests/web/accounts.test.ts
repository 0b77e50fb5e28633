// Tests accounts: registration, login, password confirmation and renaming.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  expectNoHorizontalOverflow,
  openAccountPage,
  expectInViewport,
  expectAccessible,
  startBotMatch,
  waitForOwnName,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const PASSWORD = 'correct horse';

async function signUp(page: Page, name: string, password = PASSWORD) {
  const form = page.locator('.account');
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('New password').fill(password);
  await form.getByRole('button', { name: 'Sign up' }).click();
}

async function logIn(page: Page, name: string, password: string) {
  const form = page.locator('.login');
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    desktop: { width: 1280, height: 720 },
  }),
  'phone',
)) {
  test(
    `a guest registers in one step and logs in on another device: ${size}`,
    withServer(async (harness) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await harness.openPage('/', options);
      await startBotMatch(ann);
      await openAccountPage(ann);
      await expectAccessible(ann, 'sign up');
      await expectNoHorizontalOverflow(ann);
      await takeScreenshot(ann, `sign-up-${size}`);
      await signUp(ann, 'Ann Smith', 'short');
      const alert = ann.getByRole('alert');
      await alert.filter({ hasText: 'A password has 10 to 200 characters.' }).waitFor();
      await signUp(ann, 'plyhouse');
      await alert.filter({ hasText: 'Nobody can have this name here.' }).waitFor();
      await signUp(ann, 'Ann Smith');
      await ann.getByText('The name Ann Smith is yours now.').waitFor();
      await ann.getByRole('heading', { name: 'Your name is your own' }).waitFor();
      await waitForOwnName(ann, 'Ann Smith');
      await expectAccessible(ann, 'account');
      await takeScreenshot(ann, `account-${size}`);

      const other = await harness.openPage('/pair', options);
      await other.locator('.login').waitFor();
      await expectAccessible(other, 'log in');
      await expectNoHorizontalOverflow(other);
      await takeScreenshot(other, `log-in-${size}`);
      await logIn(other, 'ann smith', 'wrong password');
      await expectInViewport(
        other.getByRole('alert').filter({ hasText: 'That is not the password' }),
      );
      await logIn(other, 'ann smith', PASSWORD);
      await other.getByText('You are Ann Smith here now.').waitFor();
      await other.getByText('Your matches').waitFor();
      await ann.getByText(/^A new device plays as you: /).waitFor();
      // A name that differs only in case is taken.
      const eve = await harness.openPage('/', options);
      await openAccountPage(eve);
      await signUp(eve, 'ANN SMITH');
      await eve.getByRole('alert').filter({ hasText: 'Nobody can have this name here.' }).waitFor();
    }),
  );
}

test(
  'logging out other devices and changing the password need confirmation',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    await openAccountPage(ann);
    await signUp(ann, 'Ann');
    await ann.getByText('The name Ann is yours now.').waitFor();
    const other = await harness.openPage('/pair');
    await logIn(other, 'Ann', PASSWORD);
    await other.getByText('You are Ann here now.').waitFor();
    await ann.getByRole('button', { name: 'Log out all others' }).click();
    const dialog = ann.getByRole('dialog', { name: 'Is it you?' });
    const field = dialog.getByLabel('Your password, or your recovery key');
    await field.fill('wrong password');
    await ann.keyboard.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'That is not the password' }).waitFor();
    await expectAccessible(ann, 'proof');
    await takeScreenshot(ann, 'proof');
    await ann.keyboard.press('Escape');
    assert.equal(await ann.locator('.devices li').count(), 2);
    await ann.getByRole('button', { name: 'Log out all others' }).click();
    await field.fill(PASSWORD);
    await ann.keyboard.press('Enter');
    await other.getByText('This device is logged out.').waitFor();

    // A recovery key confirms as well as the password.
    await ann.getByRole('button', { name: 'Make a recovery key' }).click();
    await field.fill(PASSWORD);
    await ann.keyboard.press('Enter');
    const key = await ann.getByRole('textbox', { name: 'Recovery key', exact: true }).inputValue();
    await ann.getByRole('button', { name: 'I have kept it' }).click();
    await ann.locator('.account').getByLabel('New password').fill('another horse');
    await ann.getByRole('button', { name: 'Set the password' }).click();
    await field.fill(key.toLowerCase());
    await ann.keyboard.press('Enter');
    await ann.getByText('The password is set.').waitFor();
    const back = await harness.openPage('/pair');
    await logIn(back, 'Ann', 'another horse');
    await back.getByText('You are Ann here now.').waitFor();
  }),
);

test(
  'an account is renamed once in 30 days and keeps its matches',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await startBotMatch(ann);
    await openAccountPage(ann);
    await signUp(ann, 'Ann');
    await ann.getByText('The name Ann is yours now.').waitFor();
    const rename = async (name: string) => {
      await ann.getByRole('button', { name: 'Choose a name' }).click();
      await ann.getByText('You can take another name once in 30 days.').waitFor();
      await ann.getByLabel('What others see').fill(name);
      await ann.keyboard.press('Enter');
    };
    await rename('Anna');
    await ann.locator('h1', { hasText: 'Anna' }).waitFor();
    await waitForOwnName(ann, 'Anna');
    await rename('Annabel');
    await ann.getByRole('alert').filter({ hasText: 'recently' }).waitFor();
    await ann.keyboard.press('Escape');
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.getByText('Your matches').waitFor();
  }),
);

test(
  'there are no password fields if the server has no accounts',
  withServer(
    async (harness) => {
      const ann = await harness.openPage();
      await openAccountPage(ann);
      await ann.getByRole('button', { name: 'Make a recovery key' }).waitFor();
      assert.equal(await ann.getByLabel(/password/i).count(), 0);
      await ann.goto('/pair');
      await ann.getByLabel('Code or recovery key').waitFor();
      assert.ok(!(await ann.getByLabel('Password').isVisible()));
    },
    ['--accounts', 'off'],
  ),
);
