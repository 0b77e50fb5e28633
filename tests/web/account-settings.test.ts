// Tests the account page: API keys, blocked players, data export, deletion, invitations, and
// servers without accounts.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';

import {
  PASSWORD,
  chooseClock,
  expectNoHorizontalOverflow,
  openAccountPage,
  inviteFriend,
  expectAccessible,
  waitForMyTurn,
  playMove,
  playMoves,
  waitForStatus,
  signUp,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/** Confirms an action with the password. */
async function confirmPassword(page: Page) {
  await page.getByLabel('Your password, or your recovery key').fill(PASSWORD);
  await page.keyboard.press('Enter');
}

for (const [size, viewport] of selectVariants(
  Object.entries({
    phone: { width: 390, height: 844 },
    lying: { width: 844, height: 390 },
    desktop: { width: 1280, height: 800 },
  }),
  'phone',
)) {
  test(
    `a program gets an API key and its own name: ${size}`,
    withServer(async (harness) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await harness.openPage('/', options);
      await openAccountPage(ann);
      const keys = ann.getByRole('region', { name: 'Keys for programs' });
      // A guest's programs play as the guest.
      await keys.getByLabel('What it is called').fill('laptop');
      assert.equal(await keys.getByLabel('Name of the program').isVisible(), false);
      await keys.getByRole('button', { name: 'Make a key' }).click();
      const key = ann.getByLabel('Key', { exact: true });
      assert.match(await key.inputValue(), /^ply_[\w-]{20,}/);
      await expectAccessible(ann, 'key');
      await takeScreenshot(ann, `key-${size}`);
      await ann.getByRole('button', { name: 'I have kept it' }).click();
      await ann.locator('.devices li', { hasText: 'laptop' }).getByText('key').waitFor();

      await signUp(ann, 'ada');
      await openAccountPage(ann);
      await keys.getByLabel('Name of the program').fill('randy');
      await keys.getByRole('button', { name: 'Make a key' }).click();
      await confirmPassword(ann);
      await ann.getByRole('heading', { name: 'A key for randy' }).waitFor();
      await ann.getByRole('button', { name: 'I have kept it' }).click();
      await ann.locator('.devices li', { hasText: 'randy' }).waitFor();
      await keys.getByLabel('Name of the program').fill('ada');
      await keys.getByRole('button', { name: 'Make a key' }).click();
      await ann.getByText('Nobody can have this name here.').waitFor();
      await ann.evaluate(() => document.getElementById('toast')?.replaceChildren());
      await expectAccessible(ann, 'oneself');
      await expectNoHorizontalOverflow(ann);
      await takeScreenshot(ann, `oneself-${size}`);
    }),
  );
}

test(
  'an opponent is blocked in a match and unblocked on the account page',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const link = await inviteFriend(ann);
    const bob = await harness.openPage(link);
    await waitForMyTurn(ann);
    await ann.getByRole('button', { name: 'Words' }).click();
    const words = ann.getByRole('region', { name: 'Words' });
    await words.getByRole('button', { name: 'Block' }).click();
    await ann.getByText(/^guest-\w+ is blocked/).waitFor();
    await words.getByRole('button', { name: 'Unblock' }).waitFor();
    // Bob's message reaches only Bob: Ann receives the later moves without it.
    await bob.getByRole('button', { name: 'Words' }).click();
    await bob.getByRole('region', { name: 'Words' }).getByRole('button', { name: 'Hello' }).click();
    await bob.locator('.player .says', { hasText: 'Hello' }).waitFor();
    await playMove(ann, 'a1');
    await playMove(bob, 'a2');
    await waitForMyTurn(ann);
    assert.equal(await ann.locator('.says, .said').getByText('Hello').count(), 0);
    // A blocked player cannot take the seat.
    await ann.goto('/');
    const other = await inviteFriend(ann, 'Chess');
    await bob.goto(other);
    await waitForStatus(bob, 'Waiting for a player.');

    await openAccountPage(ann);
    const blocked = ann.getByRole('region', { name: 'Blocked' });
    await blocked.getByRole('button', { name: /^Unblock: guest-/ }).click();
    await ann.getByText(/^guest-\w+ is not blocked any more/).waitFor();
    await blocked.waitFor({ state: 'hidden' });
  }),
);

test(
  'the data export is a file, available once a minute',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await signUp(ann, 'ada');
    await openAccountPage(ann);
    const exportButton = ann.getByRole('button', { name: 'Take my data with me' });
    const download = ann.waitForEvent('download');
    await exportButton.click();
    const file = await download;
    assert.equal(file.suggestedFilename(), 'plyhouse-me.jsonl');
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
    assert.ok(lines.length > 0 && lines.every((line) => JSON.parse(line)));
    assert.ok(lines.some((line) => line.includes('"ada"')));
    harness.expectsFailures = true;
    await exportButton.click();
    await ann.getByText('Once a minute at most: try again in a moment.').waitFor();
  }),
);

test(
  'an account is deleted after a warning, but not during a match',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    await signUp(ann, 'ada');
    const link = await inviteFriend(ann);
    const bob = await harness.openPage(link);
    await waitForMyTurn(ann);
    await openAccountPage(ann);
    const deleteButton = ann.getByRole('button', { name: 'Forget me …' });
    await deleteButton.click();
    await ann.getByText('Copies that others have made cannot be called back').waitFor();
    await expectAccessible(ann, 'forgetting');
    await ann.getByRole('button', { name: 'Cancel' }).click();
    await ann.locator(':focus', { hasText: 'Forget me …' }).waitFor();
    // The server refuses the deletion during a match.
    await deleteButton.click();
    await ann.getByRole('button', { name: 'Forget me for good' }).click();
    await confirmPassword(ann);
    await ann.getByText('The match is being played.').first().waitFor();
    await ann.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Cancel the match' }).click();
    await waitForStatus(bob, 'No result.');
    await ann.getByRole('button', { name: 'Forget me for good' }).click();
    await confirmPassword(ann);
    await ann.getByRole('heading', { name: 'This device is logged out.' }).waitFor();
    await ann.getByRole('button', { name: 'Begin as a new guest' }).click();
    await ann.locator('header .name', { hasText: /^Your name: guest-/ }).waitFor();
  }),
);

test(
  'the name of a deleted player is in the language of the page and has no link',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await signUp(ann, 'ada');
    const link = await inviteFriend(ann);
    const bob = await harness.openPage(link, { locale: 'de' });
    await playMove(ann, 'b2');
    await bob.locator('.player a', { hasText: 'ada' }).waitFor();
    await bob.getByRole('gridcell', { name: 'a1' }).click();
    await waitForMyTurn(ann);
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await waitForStatus(ann, 'You lose.');
    await openAccountPage(ann);
    await ann.getByRole('button', { name: 'Forget me …' }).click();
    await ann.getByRole('button', { name: 'Forget me for good' }).click();
    await confirmPassword(ann);
    await ann.getByRole('heading', { name: 'This device is logged out.' }).waitFor();
    await bob.goto('/games');
    const row = bob.locator('.rows li');
    await row.filter({ hasText: 'jemand' }).waitFor();
    assert.equal(await row.getByRole('link').count(), 0);
    await takeScreenshot(bob, 'someone');
    await row.getByRole('button').first().click();
    await bob.locator('.player', { hasText: 'jemand' }).waitFor();
    assert.equal(await bob.locator('.player').getByRole('link').count(), 0);
  }),
);

test(
  'registration asks for an invitation if the server requires one',
  withServer(
    async (harness) => {
      const ann = await harness.openPage();
      await openAccountPage(ann);
      const account = ann.getByRole('region', { name: 'Keep your name' });
      await account.getByLabel('Name', { exact: true }).fill('ada');
      await account.getByLabel('New password').fill(PASSWORD);
      await account.getByRole('button', { name: 'Sign up' }).click();
      await ann.getByText('For this one needs an invitation.').waitFor();
      const signUpWith = async (invitation: string) => {
        await account.getByLabel('Invitation').fill(invitation);
        await account.getByRole('button', { name: 'Sign up' }).click();
      };
      await signUpWith('no such invitation');
      await ann.getByText('For this one needs an invitation.').waitFor();
      const invitation = await harness.server.runCommand('account', 'invite');
      await signUpWith(` ${invitation} `);
      await ann.getByText('The name ada is yours now.').waitFor();
      await ann.getByRole('heading', { name: 'Your name is your own' }).waitFor();
      // An invitation is valid once.
      const bob = await harness.openPage();
      await openAccountPage(bob);
      const other = bob.getByRole('region', { name: 'Keep your name' });
      await other.getByLabel('Name', { exact: true }).fill('bob');
      await other.getByLabel('New password').fill(PASSWORD);
      await other.getByLabel('Invitation').fill(invitation);
      await other.getByRole('button', { name: 'Sign up' }).click();
      await bob.getByText('For this one needs an invitation.').waitFor();
    },
    ['--accounts', 'invite'],
  ),
);

/** Words that the page shows only if the server has accounts. */
const ACCOUNT_WORDS =
  /account|password|sign(ed)? (up|in)|log in|keys for programs|forget me|\brat(ed|ings?)\b|leaderboard|invitation/i;

test(
  'no view mentions accounts if the server has none',
  withServer(
    async (harness) => {
      const ann = await harness.openPage();
      const expectNoAccounts = async (view: string) => {
        const text = await ann.evaluate(() => {
          const labels = [...document.querySelectorAll('[aria-label], [title], [placeholder]')]
            .filter((element) => element.checkVisibility())
            .flatMap((element) =>
              ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name)),
            );
          return [document.title, document.body.innerText, ...labels].join('\n');
        });
        assert.doesNotMatch(text, ACCOUNT_WORDS, view);
      };
      await ann.getByRole('button', { name: /^Play the/ }).click();
      await waitForMyTurn(ann);
      await expectNoAccounts('match against a bot');
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
      await chooseClock(ann, '5+3');
      for (const summary of await ann.locator('summary:visible').all()) await summary.click();
      await ann.getByLabel('Pace').waitFor();
      await expectNoAccounts('lobby');
      const link = await inviteFriend(ann, 'Connect Four');
      await expectNoAccounts('open match');
      const bob = await harness.openPage(link);
      await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
      await waitForStatus(ann, 'You win!');
      await expectNoAccounts('end');
      await ann.getByRole('button', { name: 'Show the board' }).click();
      await ann.getByRole('button', { name: 'Words' }).click();
      await ann.getByRole('region', { name: 'Words' }).waitFor();
      await expectNoAccounts('words');
      await ann.goto('/games');
      await ann.getByRole('button', { name: /^Replay/ }).waitFor();
      await expectNoAccounts('games');
      await openAccountPage(ann);
      await ann.getByRole('heading', { name: 'Recovery key' }).waitFor();
      await expectNoAccounts('oneself');
      await ann.getByRole('button', { name: 'Choose a name' }).click();
      await expectNoAccounts('name');
      await ann.goto('/pair');
      await ann.getByLabel('Code or recovery key').waitFor();
      await expectNoAccounts('arrival');
      // The URLs of account pages.
      for (const path of ['/leaders', '/player/ann']) {
        await ann.goto(path);
        await ann.getByRole('heading', { level: 1 }).waitFor();
        await expectNoAccounts(path);
      }
      // The page before the welcome message of the server.
      let holdWelcome: (send: () => void) => void = () => {};
      const heldWelcome = new Promise<() => void>((resolve) => (holdWelcome = resolve));
      await ann.routeWebSocket('**/ws', (socket) => {
        const server = socket.connectToServer();
        server.onMessage((text) => {
          const isWelcome = JSON.parse(String(text)).type === 'welcome';
          if (isWelcome) holdWelcome(() => socket.send(text));
          else socket.send(text);
        });
      });
      await ann.goto('/leaders');
      const sendWelcome = await heldWelcome;
      await ann.locator('main').getByText('Loading').waitFor();
      await expectNoAccounts('/leaders at first');
      sendWelcome();
      await ann.getByRole('heading', { level: 1 }).waitFor();
      await expectNoAccounts('/leaders in the end');
    },
    ['--accounts', 'off'],
  ),
);
