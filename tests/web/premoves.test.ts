// Moves that are chosen while the other one thinks.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  expectNoHorizontalOverflow,
  inviteFriend,
  inviteWithTerms,
  expectAccessible,
  countMoves,
  waitForMyTurn,
  playMove,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

const isQueued = (page: Page, square: string) =>
  cell(page, square).and(page.getByLabel('chosen ahead')).waitFor();

/** The page has heard of so many moves, which the other may have before: only then is the next one chosen ahead. */
const knows = (page: Page, count: number) =>
  page
    .locator('.moves button')
    .nth(count - 1)
    .waitFor();

const nothingIsQueued = (page: Page) =>
  page.getByLabel('chosen ahead').first().waitFor({ state: 'detached' });

test(
  'a move chosen ahead is shown, and played when the turn comes',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true });
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    // Where nothing stands there is nothing to take up.
    for (const empty of ['a5', 'd4']) await cell(ann, empty).click();
    assert.equal(await ann.getByLabel(/chosen ahead|picked up/).count(), 0);
    await cell(ann, 'd2').click();
    await cell(ann, 'd4').click();
    await isQueued(ann, 'd2');
    await isQueued(ann, 'd4');
    await ann
      .getByText(/^Chosen ahead: d2 to d4/)
      .first()
      .waitFor();
    // Nothing is played, nor seen by the other.
    assert.equal(await countMoves(ann), 1);
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'chosen ahead');
    await takeScreenshot(ann, 'chosen-ahead');
    await playMove(bob, 'e7', 'e5');
    await cell(bob, 'd4').and(bob.getByLabel('white pawn')).waitFor();
    await nothingIsQueued(ann);
    await knows(ann, 3);

    // By dragging, too; and what is picked up when the turn comes stays in the hand.
    await cell(ann, 'd4').dragTo(cell(ann, 'e5'));
    await isQueued(ann, 'e5');
    // Keys go on from there.
    await cell(ann, 'e5').and(ann.locator(':focus')).waitFor();
    await cell(ann, 'g1').click();
    await cell(ann, 'f3').click();
    await isQueued(ann, 'f3');
    await nothingIsQueuedAt(ann, 'e5');
    await playMove(bob, 'a7', 'a6');
    await cell(bob, 'f3').and(bob.getByLabel('white knight')).waitFor();
    await knows(ann, 5);
    await cell(ann, 'b1').click();
    await playMove(bob, 'a6', 'a5');
    await waitForMyTurn(ann);
    await cell(ann, 'c3').click();
    await cell(bob, 'c3').and(bob.getByLabel('white knight')).waitFor();
  }),
);

const nothingIsQueuedAt = (page: Page, square: string) =>
  cell(page, square).and(page.getByLabel('chosen ahead')).waitFor({ state: 'detached' });

test(
  'what is chosen ahead is taken out by Escape, a click, a takeback, and where it is not legal',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    const choose = async () => {
      await cell(ann, 'e4').click();
      await cell(ann, 'e5').click();
      await isQueued(ann, 'e5');
    };
    await choose();
    await ann.keyboard.press('Escape');
    await nothingIsQueued(ann);
    await choose();
    await cell(ann, 'e5').click();
    await nothingIsQueued(ann);
    await choose();
    await ann.getByRole('button', { name: 'Take back' }).click();
    await bob.getByRole('button', { name: 'Accept' }).click();
    await waitForMyTurn(ann);
    await nothingIsQueued(ann);
    await ann.locator('#toast', { hasText: 'Nothing is chosen ahead any more.' }).waitFor();
    await playMove(ann, 'e2', 'e4');
    await choose();
    await playMove(bob, 'e7', 'e5');
    await ann.locator('#toast', { hasText: 'cannot be played now.' }).waitFor();
    await waitForMyTurn(ann);
    assert.equal(await countMoves(ann), 2);
  }),
);

test(
  'of a pawn that is to reach the last rank it is told what it becomes',
  withServer(async (house) => {
    const ann = await house.openPage();
    const position = '8/P5k1/8/8/8/8/6K1/8 b - - 0 1';
    const bob = await house.openPage(await inviteWithTerms(ann, { position }, 'Chess'));
    await waitForMyTurn(bob);
    await ann.locator('.room.running').waitFor();
    await cell(ann, 'g2').click();
    await cell(ann, 'g3').click();
    await isQueued(ann, 'g3');
    assert.equal(await ann.getByText('It becomes a queen.').count(), 0);
    await cell(ann, 'a7').click();
    await cell(ann, 'a8').click();
    await ann
      .locator('.why', { hasText: /^Chosen ahead: a7 to a8\..* It becomes a queen\.$/ })
      .waitFor();
    await takeScreenshot(ann, 'promoted-ahead');
    await playMove(bob, 'g7', 'g6');
    await cell(bob, 'a8').and(bob.getByLabel('white queen')).waitFor();
  }),
);

test(
  'a piece is put ahead by mouse and by key',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Connect Four'));
    await waitForMyTurn(ann);
    await cell(bob, 'd3').click();
    await isQueued(bob, 'd3');
    await playMove(ann, 'c1');
    await cell(ann, 'd1')
      .and(ann.getByLabel(/yellow/))
      .waitFor();
    await waitForMyTurn(ann);
    await knows(bob, 2);
    await bob.keyboard.press('5');
    await bob
      .getByText(/^Chosen ahead: 5/)
      .first()
      .waitFor();
    await playMove(ann, 'c1');
    await cell(ann, 'e1')
      .and(ann.getByLabel(/yellow/))
      .waitFor();
  }),
);

test(
  'no pass is chosen ahead where one may pass only if nothing else is possible',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Othello'));
    await waitForMyTurn(ann);
    const pass = bob.getByRole('button', { name: 'Pass' });
    assert.equal(await pass.getAttribute('aria-disabled'), 'true');
    await pass.click({ force: true });
    await bob.locator('#toast', { hasText: 'One may pass only where' }).waitFor();
    assert.equal(await pass.getAttribute('aria-pressed'), 'false');
  }),
);

test(
  'a pass is chosen ahead, taken out, and played when the turn comes',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Go'));
    const pass = bob
      .getByRole('group', { name: 'Other moves' })
      .getByRole('button', { name: 'Pass' });
    const queued = pass.and(bob.locator('[aria-pressed=true]'));
    await waitForMyTurn(ann);
    await pass.click();
    await queued.waitFor();
    await bob
      .getByText(/^Chosen ahead: pass/)
      .first()
      .waitFor();
    await pass.click();
    await queued.waitFor({ state: 'detached' });
    await pass.click();
    await queued.waitFor();
    await playMove(ann, 'E5');
    await ann.getByText(/^guest-\w+ passed\./).waitFor();
    await waitForMyTurn(ann);
    assert.equal(await countMoves(ann), 2);
    await queued.waitFor({ state: 'detached' });
  }),
);
