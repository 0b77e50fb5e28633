// Profiles, leaderboards, and challenges from a profile.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { ratingScale } from '../../client/web/page/people/rating-graph.ts';
import {
  codeFromLink,
  expectNoHorizontalOverflow,
  openAccountPage,
  inviteFriend,
  expectAccessible,
  playMoves,
  waitForStatus,
  signUp,
  expectTitle,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const SIZES = Object.entries({
  phone: { width: 390, height: 844 },
  landscape: { width: 844, height: 390 },
  desktop: { width: 1280, height: 800 },
});
const OPTIONS = { reducedMotion: 'reduce' as const, axe: true };

/** Sends mock replies to some types of requests, and forwards all other requests to the server. */
const mockReplies = (page: Page, replies: Record<string, (request: any) => any>) =>
  page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const request = JSON.parse(String(text));
      const reply = replies[request.type]?.(request);
      if (!reply) return server.send(text);
      socket.send(JSON.stringify({ re: request.id, ...reply }));
    });
  });

/** Ratings of three months. */
const series = Array.from({ length: 90 }, (_, at) => [
  new Date(Date.UTC(2026, 7, 20 + at)).toISOString().slice(0, 10),
  Math.round(1500 + at * 2 + 40 * Math.sin(at / 6)),
]);

const ADA = { id: '11111111-1111-4111-8111-111111111111', name: 'ada <b>', account: true };

const endedGame = (at: number) => ({
  ...{ match: `22222222-2222-4222-8222-22222222222${at}`, code: `ABCDE${at}`, game: 'chess' },
  seats: [
    { ...ADA, player: ADA.id, side: 'white', occupant: 'player', connected: false, rating: 1510 },
    { occupant: 'player', player: 'bob', name: 'bob', account: true, side: 'black', rating: 1490 },
  ],
  outcome: { winner: at % 2, reason: 'rules', detail: 'checkmate' },
  ...{ plies: 61, rated: true, you: 0, ended_ms: Date.UTC(2026, 10, 23) },
});

const PROFILE = {
  type: 'profile',
  player: ADA,
  since_ms: Date.UTC(2026, 0, 3),
  ratings: [
    {
      ...{ game: 'chess', pool: 'live', rating: 1671.6, deviation: 60.2, provisional: false },
      ...{ games: 141, series },
    },
    {
      ...{ game: 'go', pool: 'days', rating: 1388, deviation: 190, provisional: true, games: 1 },
      series: [['2026-11-22', 1388]],
    },
    {
      game: 'othello',
      pool: 'live',
      rating: 1500,
      deviation: 500,
      provisional: true,
      games: 0,
      series: [],
    },
  ],
  ...{ won: 20, lost: 15, drawn: 6, last: [0, 1, 2, 3].map(endedGame) },
};

const leaders = ({ game, after = 0, limit }: any) => ({
  type: 'leaders',
  total: game === 'chess' ? 120 : 0,
  rows:
    game === 'chess'
      ? Array.from({ length: Math.min(limit, 120 - after) }, (_, at) => ({
          place: after + at + 1,
          player: {
            id: `p${after + at}`,
            name: at === 0 ? ADA.name : `player ${after + at + 1}`,
            account: true,
          },
          ...{ rating: 2100 - 3 * (after + at), deviation: 50, games: 1040 - after - at },
        }))
      : [],
});

const block = ({ player, on }: any) => ({
  type: 'blocked',
  players: on ? [{ id: player, name: ADA.name }] : [],
});

for (const [size, viewport] of selectVariants(SIZES, 'phone')) {
  test(
    `leaderboards show the best players and lead to their profiles: ${size}`,
    withServer(async (harness) => {
      const ann = await harness.openPage('/', { viewport, ...OPTIONS });
      await mockReplies(ann, { profile: () => PROFILE, leaders, block });
      await ann.reload();
      await ann.getByRole('link', { name: 'Leaderboards' }).click();
      await ann.getByLabel('Game').selectOption('Chess');
      const rows = ann.getByRole('table', { name: 'Leaderboards' }).locator('tbody tr');
      await rows.nth(49).waitFor();
      assert.match(await rows.nth(0).innerText(), /^1\s+ada <b>\s+2100\s+1,040$/);
      await expectAccessible(ann, 'leaders');
      await expectNoHorizontalOverflow(ann);
      await takeScreenshot(ann, `leaders-${size}`);
      await ann.getByRole('button', { name: 'Show more' }).click();
      await rows.nth(99).waitFor();
      await ann.getByRole('button', { name: 'Show more' }).click();
      await rows.nth(119).waitFor();
      await ann.getByRole('button', { name: 'Show more' }).waitFor({ state: 'hidden' });
      await ann.waitForURL('**/leaders#chess/live');
      await ann.getByLabel('Pace').selectOption('By days');
      await ann.waitForURL('**/leaders#chess/days');
      await ann.getByLabel('Game').selectOption('Go');
      await ann.getByText('Nobody yet.').waitFor();
      await ann.getByLabel('Game').selectOption('Chess');

      await rows.nth(0).getByRole('link').click();
      await ann.getByRole('heading', { name: 'ada <b>', exact: true }).waitFor();
      await ann.waitForURL('**/player/ada%20%3Cb%3E');
      await expectTitle(ann, 'ada <b> – Plyhouse');
      const chess = ann.getByRole('region', { name: 'Chess, by the clock' });
      await chess.getByText('1672', { exact: true }).first().waitFor();
      await chess
        .getByRole('img', { name: 'Chess, by the clock: from 1500 to 1709 over 90 days' })
        .waitFor();
      // A table contains the points of the graph.
      assert.equal(await chess.getByRole('row').count(), 91);
      assert.match(await chess.getByRole('row').nth(1).innerText(), /Aug 20, 2026\s+1500/);
      const go = ann.getByRole('region', { name: 'Go, by days' });
      await go.getByText('1388?').waitFor();
      assert.equal(await ann.getByRole('region', { name: 'Othello' }).count(), 0);
      await ann.getByText('20 won, 15 lost, 6 drawn').waitFor();
      await ann.getByRole('link', { name: 'bob (1490)' }).first().waitFor();
      assert.equal(await ann.locator('main b').count(), 0);
      await ann.getByRole('button', { name: 'Block', exact: true }).click();
      await ann.getByText('ada <b> is blocked').waitFor();
      await ann.getByRole('button', { name: 'Unblock' }).click();
      await ann.getByRole('button', { name: 'Block', exact: true }).waitFor();
      await ann.evaluate(() => document.getElementById('toast')?.replaceChildren());
      await expectAccessible(ann, 'profile');
      await expectNoHorizontalOverflow(ann);
      await takeScreenshot(ann, `profile-${size}`);
    }),
  );
}

test('the rating graph has lines at round ratings, also below and above all points', () => {
  assert.deepEqual(ratingScale([1500]), { low: 1490, high: 1510, lines: [1490, 1500, 1510] });
  for (const ratings of [
    [1500, 1501],
    [400, 4000],
    [1399, 1400, 1401],
    [1512, 1688, 1600],
  ]) {
    const { low, high, lines } = ratingScale(ratings);
    assert.ok(low < Math.min(...ratings) && high > Math.max(...ratings), String(ratings));
    assert.ok(lines.length >= 2 && lines.length <= 6, String(lines));
    assert.equal(lines.at(-1), high);
  }
});

test(
  'the name of a registered player leads to a profile, from which other players can challenge them',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await signUp(ann, 'Ada Lovelace');
    const link = await inviteFriend(ann, 'Connect Four');
    const match = codeFromLink(link);
    const bob = await harness.openPage(link);
    await signUp(bob, 'Bob & <i>Co</i>');
    // Waits for the connection of this page, which could otherwise replace that of the next page.
    await bob.locator('html[data-link=open]').waitFor();
    await bob.goto(link);
    await playMoves(ann, bob, 'd1 c1 d1 c1 d1 c1 d1');
    await ann.getByRole('heading', { name: 'You win!' }).waitFor();
    await bob.getByRole('button', { name: 'Show the board' }).click();
    await bob.locator('.player').getByRole('link', { name: 'Ada Lovelace' }).click();
    await bob.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    await bob.waitForURL('**/player/Ada%20Lovelace');
    await bob.getByText('1 game', { exact: true }).waitFor();
    await bob.getByText('1 won, 0 lost, 0 drawn').waitFor();
    assert.match(
      await bob.locator('.rows li').first().innerText(),
      /Won · Connect Four · 7\smoves/,
    );
    assert.equal(await bob.locator('main i').count(), 0);
    // The address of a profile ignores case.
    await bob.goto('/player/ADA%20lovelace');
    await bob.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    await bob.getByRole('button', { name: 'Replay' }).click();
    await waitForStatus(bob, 'You lose.');
    assert.ok(!bob.url().includes(match));
    await bob.goBack();
    await bob.getByRole('button', { name: 'Challenge' }).click();
    const dialog = bob.getByRole('dialog');
    await dialog.getByLabel('Game').selectOption('Othello');
    await dialog.getByLabel('Clock').selectOption('10+5');
    await dialog.getByRole('button', { name: 'Challenge' }).click();
    await waitForStatus(bob, 'Waiting for Ada Lovelace to accept.');
    await ann.getByText('Bob & <i>Co</i> challenges you').waitFor();
    await ann.locator('#challenges').getByText('Othello · 10+5').waitFor();
    await ann.getByRole('button', { name: 'Play', exact: true }).click();
    await waitForStatus(bob, /Your turn|is to move/);
    // The account page links to the profile.
    await openAccountPage(ann);
    await ann.getByRole('link', { name: 'Your page' }).click();
    await ann.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    assert.equal(await ann.getByRole('button', { name: 'Challenge' }).count(), 0);
    await ann.goto('/player/nobody%20at%20all');
    await ann.getByRole('heading', { name: 'There is no such player.' }).waitFor();
  }),
);
