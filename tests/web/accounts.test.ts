// Names of one's own: signing up, coming back by a password, another name and another password.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  expectNoHorizontalOverflow,
  openAccountPage,
  expectInViewport,
  expectAccessible,
  startBotMatch,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const PASSWORD = 'correct horse';

/** The name in the header is this. */
const isCalled = (page: Page, name: string) =>
  page.locator('header .name bdi').getByText(name, { exact: true }).waitFor();

async function signUp(page: Page, name: string, password: string = PASSWORD) {
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
    `a guest signs up in one step, and comes back by name and password: ${size}`,
    withServer(async (house) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await house.openPage('/', options);
      await startBotMatch(ann);
      await openAccountPage(ann);
      await expectAccessible(ann, 'sign up');
      await expectNoHorizontalOverflow(ann);
      await takeScreenshot(ann, `sign-up-${size}`);
      await signUp(ann, 'Ann Smith', 'short');
      const trouble = ann.getByRole('alert');
      await trouble.filter({ hasText: 'A password has 10 to 200 characters.' }).waitFor();
      await signUp(ann, 'plyhouse');
      await trouble.filter({ hasText: 'Nobody can have this name here.' }).waitFor();
      await signUp(ann, 'Ann Smith');
      await ann.getByText('The name Ann Smith is yours now.').waitFor();
      await ann.getByRole('heading', { name: 'Your name is your own' }).waitFor();
      await isCalled(ann, 'Ann Smith');
      await expectAccessible(ann, 'account');
      await takeScreenshot(ann, `account-${size}`);

      const other = await house.openPage('/pair', options);
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
      // Nobody else is called so.
      const eve = await house.openPage('/', options);
      await openAccountPage(eve);
      await signUp(eve, 'ANN SMITH');
      await eve.getByRole('alert').filter({ hasText: 'Nobody can have this name here.' }).waitFor();
    }),
  );
}

test(
  'whoever has a password is asked for it before others are logged out',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true });
    await openAccountPage(ann);
    await signUp(ann, 'Ann');
    await ann.getByText('The name Ann is yours now.').waitFor();
    const other = await house.openPage('/pair');
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

    // A recovery key proves it as well.
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
    const back = await house.openPage('/pair');
    await logIn(back, 'Ann', 'another horse');
    await back.getByText('You are Ann here now.').waitFor();
  }),
);

test(
  'an account takes another name, and stays who it is',
  withServer(async (house) => {
    const ann = await house.openPage();
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
    await isCalled(ann, 'Anna');
    await rename('Annabel');
    await ann.getByRole('alert').filter({ hasText: 'recently' }).waitFor();
    await ann.keyboard.press('Escape');
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.getByText('Your matches').waitFor();
  }),
);

test(
  'without accounts the page has no trace of them',
  withServer(
    async (house) => {
      const ann = await house.openPage();
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
