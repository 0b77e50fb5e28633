// What one may do with who one is: keys for programs, whom one does not want to meet, one's data, and being forgotten.

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

/** Says that it is oneself. */
async function prove(page: Page) {
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
    `a program gets a key, and a name of its own: ${size}`,
    withServer(async (house) => {
      const options = { viewport, reducedMotion: 'reduce' as const, axe: true };
      const ann = await house.openPage('/', options);
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
      await prove(ann);
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
  'whom one plays can be blocked in the match, and is free again under one’s name',
  withServer(async (house) => {
    const ann = await house.openPage();
    const link = await inviteFriend(ann);
    const bob = await house.openPage(link);
    await waitForMyTurn(ann);
    await ann.getByRole('button', { name: 'Words' }).click();
    const words = ann.getByRole('region', { name: 'Words' });
    await words.getByRole('button', { name: 'Block' }).click();
    await ann.getByText(/^guest-\w+ is blocked/).waitFor();
    await words.getByRole('button', { name: 'Unblock' }).waitFor();
    // What bob says is heard by bob alone; what is played after it has come after it.
    await bob.getByRole('button', { name: 'Words' }).click();
    await bob.getByRole('region', { name: 'Words' }).getByRole('button', { name: 'Hello' }).click();
    await bob.locator('.player .says', { hasText: 'Hello' }).waitFor();
    await playMove(ann, 'a1');
    await playMove(bob, 'a2');
    await waitForMyTurn(ann);
    assert.equal(await ann.locator('.says, .said').getByText('Hello').count(), 0);
    // They meet no more.
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
  'one’s data are taken along in a file, once a minute',
  withServer(async (house) => {
    const ann = await house.openPage();
    await signUp(ann, 'ada');
    await openAccountPage(ann);
    const take = ann.getByRole('button', { name: 'Take my data with me' });
    const coming = ann.waitForEvent('download');
    await take.click();
    const file = await coming;
    assert.equal(file.suggestedFilename(), 'plyhouse-me.jsonl');
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
    assert.ok(lines.length > 0 && lines.every((line) => JSON.parse(line)));
    assert.ok(lines.some((line) => line.includes('"ada"')));
    house.expectsFailures = true;
    await take.click();
    await ann.getByText('Once a minute at most: try again in a moment.').waitFor();
  }),
);

test(
  'whoever wants to be forgotten is, after having been told what that means',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true });
    await signUp(ann, 'ada');
    const link = await inviteFriend(ann);
    const bob = await house.openPage(link);
    await waitForMyTurn(ann);
    await openAccountPage(ann);
    const forget = ann.getByRole('button', { name: 'Forget me …' });
    await forget.click();
    await ann.getByText('Copies that others have made cannot be called back').waitFor();
    await expectAccessible(ann, 'forgetting');
    await ann.getByRole('button', { name: 'Cancel' }).click();
    await ann.locator(':focus', { hasText: 'Forget me …' }).waitFor();
    // Not while one plays.
    await forget.click();
    await ann.getByRole('button', { name: 'Forget me for good' }).click();
    await prove(ann);
    await ann.getByText('The match is being played.').first().waitFor();
    await ann.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Cancel the match' }).click();
    await waitForStatus(bob, 'No result.');
    await ann.getByRole('button', { name: 'Forget me for good' }).click();
    await prove(ann);
    await ann.getByRole('heading', { name: 'This device is logged out.' }).waitFor();
    await ann.getByRole('button', { name: 'Begin as a new guest' }).click();
    await ann.locator('header .name', { hasText: /^Your name: guest-/ }).waitFor();
  }),
);

test(
  'whoever is forgotten is called so in the language of whoever looks, and leads nowhere',
  withServer(async (house) => {
    const ann = await house.openPage();
    await signUp(ann, 'ada');
    const link = await inviteFriend(ann);
    const bob = await house.openPage(link, { locale: 'de' });
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
    await prove(ann);
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
  'where one signs up by invitation, one is asked for it',
  withServer(
    async (house) => {
      const ann = await house.openPage();
      await openAccountPage(ann);
      const account = ann.getByRole('region', { name: 'Keep your name' });
      await account.getByLabel('Name', { exact: true }).fill('ada');
      await account.getByLabel('New password').fill(PASSWORD);
      await account.getByRole('button', { name: 'Sign up' }).click();
      await ann.getByText('For this one needs an invitation.').waitFor();
      const sign = async (invitation: string) => {
        await account.getByLabel('Invitation').fill(invitation);
        await account.getByRole('button', { name: 'Sign up' }).click();
      };
      await sign('no such invitation');
      await ann.getByText('For this one needs an invitation.').waitFor();
      const invitation = await house.server.runCommand('account', 'invite');
      await sign(` ${invitation} `);
      await ann.getByText('The name ada is yours now.').waitFor();
      await ann.getByRole('heading', { name: 'Your name is your own' }).waitFor();
      // It is good once.
      const bob = await house.openPage();
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

/** What only accounts have, in whatever is seen or read out. */
const OF_ACCOUNTS =
  /account|password|sign(ed)? (up|in)|log in|keys for programs|forget me|\brat(ed|ings?)\b|leaderboard|invitation/i;

test(
  'where there are no accounts, there is no trace of them in any view',
  withServer(
    async (house) => {
      const ann = await house.openPage();
      const looks = async (view: string) => {
        const seen = await ann.evaluate(() => {
          const told = [...document.querySelectorAll('[aria-label], [title], [placeholder]')]
            .filter((element) => element.checkVisibility())
            .flatMap((element) =>
              ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name)),
            );
          return [document.title, document.body.innerText, ...told].join('\n');
        });
        assert.doesNotMatch(seen, OF_ACCOUNTS, view);
      };
      // One click, and one plays.
      await ann.getByRole('button', { name: /^Play the/ }).click();
      await waitForMyTurn(ann);
      await looks('match against a bot');
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
      await chooseClock(ann, '5+3');
      for (const summary of await ann.locator('summary:visible').all()) await summary.click();
      await ann.getByLabel('Pace').waitFor();
      await looks('lobby');
      const link = await inviteFriend(ann, 'Connect Four');
      await looks('open match');
      const bob = await house.openPage(link);
      await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
      await waitForStatus(ann, 'You win!');
      await looks('end');
      await ann.getByRole('button', { name: 'Show the board' }).click();
      await ann.getByRole('button', { name: 'Words' }).click();
      await ann.getByRole('region', { name: 'Words' }).waitFor();
      await looks('words');
      await ann.goto('/games');
      await ann.getByRole('button', { name: /^Replay/ }).waitFor();
      await looks('games');
      await openAccountPage(ann);
      await ann.getByRole('heading', { name: 'Recovery key' }).waitFor();
      await looks('oneself');
      await ann.getByRole('button', { name: 'Choose a name' }).click();
      await looks('name');
      await ann.goto('/pair');
      await ann.getByLabel('Code or recovery key').waitFor();
      await looks('arrival');
      // Not by their addresses, either.
      for (const path of ['/leaders', '/player/ann']) {
        await ann.goto(path);
        await ann.getByRole('heading', { level: 1 }).waitFor();
        await looks(path);
      }
      // Nor before the server has said so.
      let hold: (welcome: () => void) => void = () => {};
      const welcomed: Promise<() => void> = new Promise((resolve) => (hold = resolve));
      await ann.routeWebSocket('**/ws', (socket) => {
        const server = socket.connectToServer();
        server.onMessage((text) => {
          const isWelcome = JSON.parse(String(text)).type === 'welcome';
          if (isWelcome) hold(() => socket.send(text));
          else socket.send(text);
        });
      });
      await ann.goto('/leaders');
      const welcome = await welcomed;
      await ann.locator('main').getByText('Loading').waitFor();
      await looks('/leaders at first');
      welcome();
      await ann.getByRole('heading', { level: 1 }).waitFor();
      await looks('/leaders in the end');
    },
    ['--accounts', 'off'],
  ),
);
