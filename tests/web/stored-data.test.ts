// The page uses each localStorage key that an earlier version stored.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

import { barButton, countMoves, waitForMyTurn, waitForStatus } from './page-actions.ts';
import { PAGE_DIR, closeBrowser, withServer } from './support.ts';

import type { TestHarness, Page } from './support.ts';

after(closeBrowser);

const FIXTURES = fileURLToPath(new URL('../data/fixtures/client/', import.meta.url));

/** Recorded localStorage of two browsers: of a guest, and of the account Bob. */
const recorded: { guest: Record<string, string>; account: Record<string, string> } = JSON.parse(
  readFileSync(join(FIXTURES, 'page.json'), 'utf8'),
);

const recordedValue = (key: string) => recorded.guest[`plyhouse.${key}`] ?? '';

/** Restarts the server with the recorded store. */
async function restoreStore({ server }: TestHarness) {
  await server.kill();
  for (const file of readdirSync(server.dataDir)) rmSync(join(server.dataDir, file));
  const store = gunzipSync(readFileSync(join(FIXTURES, 'plyhouse.db.gz')));
  writeFileSync(join(server.dataDir, 'plyhouse.db'), store);
  await server.start();
}

/**
 * Opens a page with a recorded localStorage. `change` replaces values of keys; `null` removes a
 * key.
 */
function openWithStorage(
  harness: TestHarness,
  storage: Record<string, string>,
  { path = '/', change = {} }: { path?: string; change?: Record<string, string | null> } = {},
) {
  const changes = Object.fromEntries(
    Object.entries(change).map(([key, value]) => [`plyhouse.${key}`, value]),
  );
  const localStorage = Object.entries({ ...storage, ...changes }).flatMap(([name, value]) =>
    value === null ? [] : [{ name, value }],
  );
  const origins = [{ origin: harness.server.url, localStorage }];
  // Offline play needs the service worker.
  const serviceWorkers = 'allow' as const;
  return harness.openPage(path, { serviceWorkers, storageState: { cookies: [], origins } });
}

/** Opens the page of the guest in English. */
const openAsGuest = (
  harness: TestHarness,
  path = '/',
  change: Record<string, string | null> = {},
) => openWithStorage(harness, recorded.guest, { path, change: { language: 'en', ...change } });

const readStored = (page: Page, key: string) =>
  page.evaluate((name) => localStorage.getItem(name), `plyhouse.${key}`);

const selectedValue = (page: Page, name: string) =>
  page.getByRole('combobox', { name, exact: true }).inputValue();

/** All modules of the page. */
const sources = readdirSync(PAGE_DIR, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(PAGE_DIR, name), 'utf8') }));

test('the fixture has all keys that the page uses', () => {
  // The script `boot.ts` cannot import `ui/storage.ts`. Its own function takes a key and a default
  // value.
  const call = /\b(?:getStored|getStoredObject|setStored)\(\s*([^\s,)]*)/g;
  const bootCall = /\b\w+\(('[a-z-]+'), '[a-z]*'\)/g;
  const keys = new Set();
  const withVariables = [];
  for (const { name, text } of sources.filter(({ name }) => name !== 'ui/storage.ts')) {
    for (const [, argument = ''] of text.matchAll(name === 'app/boot.ts' ? bootCall : call)) {
      const key = /^'([a-z-]+)'$/.exec(argument)?.[1];
      if (key) keys.add(key);
      else withVariables.push(name);
    }
  }
  const fixture = Object.keys(recorded.guest).map((key) => key.replace(/^plyhouse\./, ''));
  assert.deepEqual([...keys].sort(), fixture.sort());
  // The keys in variables of these modules are literals elsewhere.
  assert.deepEqual(withVariables.sort(), ['dialogs/appearance.ts', 'social/send-challenge.ts']);
  // All other modules access the storage through `ui/storage.ts`.
  const direct = sources.filter(({ text }) =>
    /\b(local|session)Storage\.|\bindexedDB\b/.test(text),
  );
  assert.deepEqual(direct.map(({ name }) => name).sort(), ['app/boot.ts', 'ui/storage.ts']);
});

test(
  'language, appearance and sounds of the fixture take effect',
  withServer(async (harness) => {
    await restoreStore(harness);
    const page = await openWithStorage(harness, recorded.guest);
    await page.locator('html[lang=de] .lobby .desk').waitFor();
    const { theme, board, pieces, notation } = await page.evaluate(() => ({
      ...document.documentElement.dataset,
    }));
    assert.deepEqual(
      { theme, board, pieces, notation },
      { theme: 'dark', board: 'wood', pieces: 'bold', notation: 'figurines' },
    );
    assert.equal(await page.locator('header button[aria-pressed=true]').count(), 1);
  }),
);

test(
  'choices of the fixture take effect in the lobby',
  withServer(async (harness) => {
    await restoreStore(harness);
    const page = await openAsGuest(harness);
    const radio = (name: string | RegExp) => page.getByRole('radio', { name });
    await radio('Othello').waitFor();
    assert.ok(await radio('Othello').isChecked());
    assert.ok(await radio('Hard').isChecked());
    assert.ok(await radio(/, second$/).isChecked());
    assert.ok(await page.getByRole('checkbox', { name: 'Show what the bot thinks' }).isChecked());
    assert.equal(await selectedValue(page, 'Clock'), 'own');
    assert.equal(await selectedValue(page, 'Kind'), 'delay');
    assert.equal(await page.getByLabel('Seconds of delay').inputValue(), '2.5');
    assert.equal(await selectedValue(page, 'If somebody leaves'), 'medium');
    assert.equal(await selectedValue(page, 'Taking moves back'), 'no');
    await page.locator('summary', { hasText: 'Who may watch' }).click();
    assert.equal(await selectedValue(page, 'They see it'), '60000');
    assert.equal(await selectedValue(page, 'Who may watch'), 'code');
    await page.locator('summary', { hasText: 'Or watch two bots' }).click();
    assert.equal(await selectedValue(page, 'First'), 'easy');
    assert.equal(await selectedValue(page, 'Second'), 'max');
    assert.equal(await selectedValue(page, 'Pace'), '3000');
    assert.ok(!(await page.getByRole('checkbox', { name: 'Show what they think' }).isChecked()));

    const bob = await openWithStorage(harness, recorded.account);
    await bob.locator('header .name', { hasText: 'Bob' }).waitFor();
    assert.ok(await bob.getByRole('checkbox', { name: /^Rated/ }).isChecked());
  }),
);

test(
  'the token of the fixture resumes its player, and a name without a token is given to a new guest',
  withServer(async (harness) => {
    await restoreStore(harness);
    const page = await openAsGuest(harness);
    const name = recordedValue('name');
    await page.locator('header .name', { hasText: name }).waitFor();
    // The guest is the only player with a correspondence match. The opponent's name comes from
    // `days`.
    const correspondence = page.locator('.kind', { hasText: 'Your games by days' }).locator('li');
    await correspondence.filter({ hasText: /Bob\s*Chess · your turn/ }).waitFor();
    // The names come from `challenged` and `opponents`.
    const ownMatches = page.locator('.own .kind').first().locator('li');
    await ownMatches.filter({ hasText: /Bob\s*Chess/ }).waitFor();
    await page.getByRole('button', { name: 'Challenge Bob' }).waitFor();
    assert.equal(await readStored(page, 'token'), recordedValue('token'));

    const newGuest = await openAsGuest(harness, '/', { token: null });
    await newGuest.locator('header .name', { hasText: name }).waitFor();
    assert.notEqual(await readStored(newGuest, 'token'), recordedValue('token'));
    assert.equal(await correspondence.count(), 1);
    assert.equal(await newGuest.getByText('Your games by days').isVisible(), false);
  }),
);

test(
  'notifications of the fixture are on',
  withServer(async (harness) => {
    await restoreStore(harness);
    const page = await openAsGuest(harness);
    await page.addInitScript(() => {
      Object.assign(globalThis, { Notification: { permission: 'granted' } });
    });
    await page.goto('/games');
    await page.getByRole('button', { name: 'Tell me no more' }).waitFor();
  }),
);

/** Resigns a match and waits until the opponent has won. */
async function resign(loser: Page, winner: Page) {
  await barButton(loser, 'Resign …').click();
  await loser.getByRole('button', { name: 'Resign', exact: true }).click();
  await waitForStatus(winner, 'You win!');
}

/** Starts a rematch and waits until both pages show it. */
async function rematch(first: Page, second: Page) {
  await barButton(second, 'Rematch').click();
  await barButton(first, 'Rematch').click();
  for (const page of [first, second]) await page.locator('.room:not(.ended)').waitFor();
}

test(
  'the fixture mutes a player, and suppresses the prompt to save the guest’s account',
  withServer(async (harness) => {
    await restoreStore(harness);
    const ann = await openAsGuest(harness);
    const bob = await openWithStorage(harness, recorded.account);
    const challenge = bob.getByRole('region', { name: 'Challenges' });
    await challenge.getByRole('button', { name: 'Play', exact: true }).click();
    await bob.locator('.room:not(.ended)').waitFor();
    await ann.goto(new URL(bob.url()).pathname);
    await ann.locator('.room:not(.ended)').waitFor();

    await bob.getByRole('button', { name: /^Words/ }).click();
    await bob.getByRole('region', { name: 'Words' }).getByRole('button', { name: 'Hello' }).click();
    await ann.getByRole('button', { name: /^Words/ }).click();
    await ann.getByRole('button', { name: 'Hear Bob again' }).click();
    // The page has hidden Bob's message until now.
    const words = ann.getByRole('region', { name: 'Words' });
    await words.getByRole('listitem').filter({ hasText: 'Hello' }).waitFor();
    await ann.keyboard.press('Escape');

    const prompt = ann.locator('.keep');
    const removeStored = (key: string) =>
      ann.evaluate((name) => localStorage.removeItem(name), `plyhouse.${key}`);
    await resign(bob, ann);
    assert.equal(await prompt.isVisible(), false, 'despite `kept`');
    await removeStored('kept');
    await rematch(ann, bob);
    await resign(bob, ann);
    assert.equal(await prompt.isVisible(), false, 'despite `won`');
    // Without both keys this would be the first win.
    await rematch(ann, bob);
    await removeStored('won');
    await resign(bob, ann);
    await prompt.waitFor();
  }),
);

test(
  'matches of the fixture are available offline',
  withServer(async (harness) => {
    await restoreStore(harness);
    const page = await openAsGuest(harness);
    await page.getByRole('button', { name: 'Invite a friend' }).waitFor();
    // `past-of` names their player. The page deletes the matches of another player.
    assert.equal(await readStored(page, 'past'), recordedValue('past'));
    assert.equal(await readStored(page, 'past-of'), recordedValue('past-of'));
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    harness.expectsFailures = true;
    await harness.server.kill();

    await page.goto('/games');
    await page.getByRole('button', { name: 'Play without it' }).click();
    await page.locator('.over li', { hasText: 'Bob' }).waitFor();
    const [played] = JSON.parse(recordedValue('alone'));
    await page.goto(`/m/${played.id}`);
    await waitForMyTurn(page);
    assert.equal(await countMoves(page), played.moves.length);
    // The names of the opponents in correspondence matches are still stored.
    assert.equal(await readStored(page, 'days'), recordedValue('days'));
  }),
);
