// Premoves: moves that a player queues during the turn of the opponent.

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

const waitForPremove = (page: Page, square: string) =>
  cell(page, square).and(page.getByLabel('chosen ahead')).waitFor();

/** Waits for this many moves. A move selected before that would be no premove. */
const waitForMoves = (page: Page, count: number) =>
  page
    .locator('.moves button')
    .nth(count - 1)
    .waitFor();

const waitForNoPremove = (page: Page) =>
  page.getByLabel('chosen ahead').first().waitFor({ state: 'detached' });

test(
  'a premove is shown, and played at the start of the turn',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { axe: true });
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    // Empty squares cannot be selected.
    for (const empty of ['a5', 'd4']) await cell(ann, empty).click();
    assert.equal(await ann.getByLabel(/chosen ahead|picked up/).count(), 0);
    await cell(ann, 'd2').click();
    await cell(ann, 'd4').click();
    await waitForPremove(ann, 'd2');
    await waitForPremove(ann, 'd4');
    await ann
      .getByText(/^Chosen ahead: d2 to d4/)
      .first()
      .waitFor();
    // The premove is not in the move list.
    assert.equal(await countMoves(ann), 1);
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'chosen ahead');
    await takeScreenshot(ann, 'chosen-ahead');
    await playMove(bob, 'e7', 'e5');
    await cell(bob, 'd4').and(bob.getByLabel('white pawn')).waitFor();
    await waitForNoPremove(ann);
    await waitForMoves(ann, 3);

    // Dragging makes premoves, too.
    await cell(ann, 'd4').dragTo(cell(ann, 'e5'));
    await waitForPremove(ann, 'e5');
    // The target has the focus of the keyboard.
    await cell(ann, 'e5').and(ann.locator(':focus')).waitFor();
    await cell(ann, 'g1').click();
    await cell(ann, 'f3').click();
    await waitForPremove(ann, 'f3');
    await waitForNoPremoveAt(ann, 'e5');
    await playMove(bob, 'a7', 'a6');
    await cell(bob, 'f3').and(bob.getByLabel('white knight')).waitFor();
    await waitForMoves(ann, 5);
    // A piece stays selected when the turn starts.
    await cell(ann, 'b1').click();
    await playMove(bob, 'a6', 'a5');
    await waitForMyTurn(ann);
    await cell(ann, 'c3').click();
    await cell(bob, 'c3').and(bob.getByLabel('white knight')).waitFor();
  }),
);

const waitForNoPremoveAt = (page: Page, square: string) =>
  cell(page, square).and(page.getByLabel('chosen ahead')).waitFor({ state: 'detached' });

test(
  'a premove is removed by Escape, by a click, by a takeback, and if it becomes illegal',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Chess'));
    await playMove(ann, 'e2', 'e4');
    const queueMove = async () => {
      await cell(ann, 'e4').click();
      await cell(ann, 'e5').click();
      await waitForPremove(ann, 'e5');
    };
    await queueMove();
    await ann.keyboard.press('Escape');
    await waitForNoPremove(ann);
    await queueMove();
    await cell(ann, 'e5').click();
    await waitForNoPremove(ann);
    await queueMove();
    await ann.getByRole('button', { name: 'Take back' }).click();
    await bob.getByRole('button', { name: 'Accept' }).click();
    await waitForMyTurn(ann);
    await waitForNoPremove(ann);
    await ann.locator('#toast', { hasText: 'Nothing is chosen ahead any more.' }).waitFor();
    await playMove(ann, 'e2', 'e4');
    await queueMove();
    await playMove(bob, 'e7', 'e5');
    await ann.locator('#toast', { hasText: 'cannot be played now.' }).waitFor();
    await waitForMyTurn(ann);
    assert.equal(await countMoves(ann), 2);
  }),
);

test(
  'the page says to which piece a premove promotes a pawn',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const position = '8/P5k1/8/8/8/8/6K1/8 b - - 0 1';
    const bob = await harness.openPage(await inviteWithTerms(ann, { position }, 'Chess'));
    await waitForMyTurn(bob);
    await ann.locator('.room.running').waitFor();
    await cell(ann, 'g2').click();
    await cell(ann, 'g3').click();
    await waitForPremove(ann, 'g3');
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
  'a disc can be premoved by mouse and by keyboard',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Connect Four'));
    await waitForMyTurn(ann);
    await cell(bob, 'd3').click();
    await waitForPremove(bob, 'd3');
    await playMove(ann, 'c1');
    await cell(ann, 'd1')
      .and(ann.getByLabel(/yellow/))
      .waitFor();
    await waitForMyTurn(ann);
    await waitForMoves(bob, 2);
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
  'a pass cannot be premoved if it is legal only without other moves',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Othello'));
    await waitForMyTurn(ann);
    const pass = bob.getByRole('button', { name: 'Pass' });
    assert.equal(await pass.getAttribute('aria-disabled'), 'true');
    await pass.click({ force: true });
    await bob.locator('#toast', { hasText: 'One may pass only where' }).waitFor();
    assert.equal(await pass.getAttribute('aria-pressed'), 'false');
  }),
);

test(
  'a premoved pass can be removed, and is played at the start of the turn',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Go'));
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
