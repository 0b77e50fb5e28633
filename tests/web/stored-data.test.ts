// The page reads the localStorage that an earlier version has written, and each key takes effect.

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

/** The localStorage of two browsers, as the page has written it: that of a guest, and that of the account Bob. */
const recorded: { guest: Record<string, string>; account: Record<string, string> } = JSON.parse(
  readFileSync(join(FIXTURES, 'page.json'), 'utf8'),
);

const value = (key: string, of: Record<string, string> = recorded.guest) =>
  of[`plyhouse.${key}`] ?? '';

/** Restarts the server with the recorded store. */
async function withStore({ server }: TestHarness) {
  await server.kill();
  for (const file of readdirSync(server.dataDir)) rmSync(join(server.dataDir, file));
  const store = gunzipSync(readFileSync(join(FIXTURES, 'plyhouse.db.gz')));
  writeFileSync(join(server.dataDir, 'plyhouse.db'), store);
  await server.start();
}

/**
 * A browser with a recorded localStorage.
 * @param how the first path, and keys with other values
 */
function visitor(
  house: TestHarness,
  storage: Record<string, string>,
  { path = '/', change = {} }: { path?: string; change?: Record<string, string | null> } = {},
) {
  const changes = Object.fromEntries(
    Object.entries(change).map(([key, value]) => [`plyhouse.${key}`, value]),
  );
  const localStorage = Object.entries({ ...storage, ...changes }).flatMap(([name, value]) =>
    value === null ? [] : [{ name, value }],
  );
  const origins = [{ origin: house.server.url, localStorage }];
  // Play without the server needs the service worker.
  const serviceWorkers = 'allow' as const;
  return house.openPage(path, { serviceWorkers, storageState: { cookies: [], origins } });
}

/** The guest of the fixtures, in English. */
const guest = (
  house: TestHarness,
  path: string = '/',
  change: Record<string, string | null> = {},
) => visitor(house, recorded.guest, { path, change: { language: 'en', ...change } });

/** The current value of a key. */
const kept = (page: Page, key: string) =>
  page.evaluate((name) => localStorage.getItem(name), `plyhouse.${key}`);

/** The selected value of a list. */
const chosen = (page: Page, name: string) =>
  page.getByRole('combobox', { name, exact: true }).inputValue();

/** All modules of the page. */
const sources = readdirSync(PAGE_DIR, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(PAGE_DIR, name), 'utf8') }));

test('the fixture has every key that the page reads or writes', () => {
  const call = /\b(getStored|getStoredObject|recalled|setStored|kept)\(\s*([^\s,:)]*)/g;
  const keys = new Set();
  const variables = [];
  for (const { name, text } of sources.filter(({ name }) => name !== 'ui/storage.ts')) {
    for (const [, , argument = ''] of text.matchAll(call)) {
      const key = /^'([a-z-]+)'$/.exec(argument)?.[1];
      if (key) keys.add(key);
      else if (argument !== '') variables.push(`${name}: ${argument}`);
    }
  }
  const fixture = Object.keys(recorded.guest).map((key) => key.replace(/^plyhouse\./, ''));
  assert.deepEqual([...keys].sort(), fixture.sort());
  // Keys in a variable, which the search above does not find: each of them stands elsewhere as a literal.
  assert.deepEqual(variables.sort(), [
    'dialogs/appearance.ts: what',
    'offline/service-worker.ts: request',
    'offline/service-worker.ts: request',
    'offline/service-worker.ts: request',
    'social/challenge.ts: key',
    'social/challenge.ts: key',
  ]);
  // No other module has a storage of its own.
  const direct = sources.filter(({ text }) =>
    /\b(local|session)Storage\.|\bindexedDB\b/.test(text),
  );
  assert.deepEqual(direct.map(({ name }) => name).sort(), ['app/boot.ts', 'ui/storage.ts']);
});

test(
  'language, looks and sounds of the fixture take effect',
  withServer(async (house) => {
    await withStore(house);
    const page = await visitor(house, recorded.guest);
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
  withServer(async (house) => {
    await withStore(house);
    const page = await guest(house);
    const radio = (name: string | RegExp) => page.getByRole('radio', { name });
    await radio('Othello').waitFor();
    assert.ok(await radio('Othello').isChecked());
    assert.ok(await radio('Hard').isChecked());
    assert.ok(await radio(/, second$/).isChecked());
    assert.ok(await page.getByRole('checkbox', { name: 'Show what the bot thinks' }).isChecked());
    assert.equal(await chosen(page, 'Clock'), 'own');
    assert.equal(await chosen(page, 'Kind'), 'delay');
    assert.equal(await page.getByLabel('Seconds of delay').inputValue(), '2.5');
    assert.equal(await chosen(page, 'If somebody leaves'), 'medium');
    assert.equal(await chosen(page, 'Taking moves back'), 'no');
    await page.locator('summary', { hasText: 'Who may watch' }).click();
    assert.equal(await chosen(page, 'They see it'), '60000');
    assert.equal(await chosen(page, 'Who may watch'), 'code');
    await page.locator('summary', { hasText: 'Or watch two bots' }).click();
    assert.equal(await chosen(page, 'First'), 'easy');
    assert.equal(await chosen(page, 'Second'), 'max');
    assert.equal(await chosen(page, 'Pace'), '3000');
    assert.ok(!(await page.getByRole('checkbox', { name: 'Show what they think' }).isChecked()));

    const bob = await visitor(house, recorded.account);
    await bob.locator('header .name', { hasText: 'Bob' }).waitFor();
    assert.ok(await bob.getByRole('checkbox', { name: /^Rated/ }).isChecked());
  }),
);

test(
  'a token of the fixture resumes its player, and a name without it names a new guest',
  withServer(async (house) => {
    await withStore(house);
    const page = await guest(house);
    const name = value('name');
    await page.locator('header .name', { hasText: name }).waitFor();
    // Only this player has a correspondence match. The opponent's name comes from `days`.
    const days = page.locator('.kind', { hasText: 'Your games by days' }).locator('li');
    await days.filter({ hasText: /Bob\s*Chess · your turn/ }).waitFor();
    // The names come from `challenged` and `opponents`.
    const mine = page.locator('.own .kind').first().locator('li');
    await mine.filter({ hasText: /Bob\s*Chess/ }).waitFor();
    await page.getByRole('button', { name: 'Challenge Bob' }).waitFor();
    assert.equal(await kept(page, 'token'), value('token'));

    const other = await guest(house, '/', { token: null });
    await other.locator('header .name', { hasText: name }).waitFor();
    assert.notEqual(await kept(other, 'token'), value('token'));
    assert.equal(await days.count(), 1);
    assert.equal(await other.getByText('Your games by days').isVisible(), false);
  }),
);

test(
  'notifications of the fixture are on',
  withServer(async (house) => {
    await withStore(house);
    const page = await guest(house);
    await page.addInitScript(() => {
      Object.assign(globalThis, { Notification: { permission: 'granted' } });
    });
    await page.goto('/games');
    await page.getByRole('button', { name: 'Tell me no more' }).waitFor();
  }),
);

/** Resigns a match, which the other player wins. */
async function resign(loser: Page, winner: Page) {
  await barButton(loser, 'Resign …').click();
  await loser.getByRole('button', { name: 'Resign', exact: true }).click();
  await waitForStatus(winner, 'You win!');
}

/** Starts a rematch, whose board replaces that of the match that has ended. */
async function rematch(one: Page, other: Page) {
  await barButton(other, 'Rematch').click();
  await barButton(one, 'Rematch').click();
  for (const page of [one, other]) await page.locator('.room:not(.ended)').waitFor();
}

test(
  'the fixture mutes a player, and knows the first win and that the player can come back',
  withServer(async (house) => {
    await withStore(house);
    const ann = await guest(house);
    const bob = await visitor(house, recorded.account);
    const challenge = bob.getByRole('region', { name: 'Challenges' });
    await challenge.getByRole('button', { name: 'Play', exact: true }).click();
    await bob.locator('.room:not(.ended)').waitFor();
    await ann.goto(new URL(bob.url()).pathname);
    await ann.locator('.room:not(.ended)').waitFor();

    await bob.getByRole('button', { name: /^Words/ }).click();
    await bob.getByRole('region', { name: 'Words' }).getByRole('button', { name: 'Hello' }).click();
    await ann.getByRole('button', { name: /^Words/ }).click();
    await ann.getByRole('button', { name: 'Hear Bob again' }).click();
    // The page hid Bob's message until now.
    const words = ann.getByRole('region', { name: 'Words' });
    await words.getByRole('listitem').filter({ hasText: 'Hello' }).waitFor();
    await ann.keyboard.press('Escape');

    const question = ann.locator('.keep');
    const forget = (key: string) =>
      ann.evaluate((name) => localStorage.removeItem(name), `plyhouse.${key}`);
    await resign(bob, ann);
    assert.equal(await question.isVisible(), false, 'despite `kept`');
    await forget('kept');
    await rematch(ann, bob);
    await resign(bob, ann);
    assert.equal(await question.isVisible(), false, 'despite `won`');
    // Without both keys this would be the first win.
    await rematch(ann, bob);
    await forget('won');
    await resign(bob, ann);
    await question.waitFor();
  }),
);

test(
  'matches of the fixture are there without the server',
  withServer(async (house) => {
    await withStore(house);
    const page = await guest(house);
    await page.getByRole('button', { name: 'Invite a friend' }).waitFor();
    // `past-of` names their player. The page deletes the matches of another player.
    assert.equal(await kept(page, 'past'), value('past'));
    assert.equal(await kept(page, 'past-of'), value('past-of'));
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    house.expectsFailures = true;
    await house.server.kill();

    await page.goto('/games');
    await page.getByRole('button', { name: 'Play without it' }).click();
    await page.locator('.over li', { hasText: 'Bob' }).waitFor();
    const [played] = JSON.parse(value('alone'));
    await page.goto(`/m/${played.id}`);
    await waitForMyTurn(page);
    assert.equal(await countMoves(page), played.moves.length);
    // The opponents' names of correspondence matches stay for when the server is back.
    assert.equal(await kept(page, 'days'), value('days'));
  }),
);
