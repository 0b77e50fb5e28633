// Whole matches on the page: against a bot, between two players, watched and replayed.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  barButton,
  inviteFriend,
  isMatchOver,
  legalSquares,
  countMoves,
  waitForMyTurn,
  createOpenMatch,
  playMove,
  playMoves,
  startBotMatch,
  waitForStatus,
  expectTitle,
  waitForSameUrl,
  playAndWait,
} from './page-actions.ts';
import { closeBrowser, eventually, withServer, takeScreenshot } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

test(
  'a match against a bot can be played by mouse',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await takeScreenshot(page, 'lobby');
    // Starting a match takes at most two clicks.
    await page.getByRole('radio', { name: 'Tic-tac-toe' }).check();
    await page.getByRole('button', { name: 'Play the easy bot' }).click();
    await waitForMyTurn(page);
    await page.locator('.heading', { hasText: 'casual' }).waitFor();
    await expectTitle(page, /Your turn/);
    while (!(await isMatchOver(page))) {
      const [square = ''] = await legalSquares(page);
      await playMove(page, square);
    }
    assert.match(await page.locator('.standing').innerText(), /^(You win!|You lose\.|A draw\.)$/);
    await takeScreenshot(page, 'ended');
    const count = await countMoves(page);
    await page.keyboard.press('ArrowLeft');
    await waitForStatus(page, `After ${count - 1} of ${count} moves.`);
    // In the rematch the sides are swapped, so the bot moves first.
    await page.getByRole('button', { name: 'Rematch, sides swapped' }).click();
    await page.locator('.player', { hasText: 'O · you' }).waitFor();
    await waitForMyTurn(page);
    assert.equal(await countMoves(page), 1);
  }),
);

test(
  'a match against a bot can be played by keyboard',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await page.getByRole('radio', { name: 'Connect Four' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play the easy bot' }).focus();
    await page.keyboard.press('Enter');
    await waitForMyTurn(page);
    // The board has the focus. A digit key plays in its column, and Enter plays in the focused
    // column.
    await page.locator('.cells :focus').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.locator('[data-square=c4]:focus').waitFor();
    await takeScreenshot(page, 'connect-four');
    await page.keyboard.press('Enter');
    await cell(page, 'c1').and(page.getByLabel(/red/)).waitFor();
    await page.locator('#heard', { hasText: 'You play column 3.' }).waitFor({ state: 'attached' });
    while (!(await isMatchOver(page))) {
      const [square = 'a1'] = await legalSquares(page);
      await playAndWait(page, () => page.keyboard.press(String(square.charCodeAt(0) - 96)));
    }
    assert.match(await page.locator('.standing').innerText(), /^(You win!|You lose\.|A draw\.)$/);
  }),
);

test(
  'tic-tac-toe can be played on the number pad',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    await waitForMyTurn(ann);
    // Digit keys play no move while a button has the focus.
    await ann.getByRole('button', { name: 'Resign …' }).focus();
    await ann.keyboard.press('1');
    await cell(ann, 'b2').focus();
    await ann.keyboard.press('7');
    await bob.getByRole('gridcell', { name: 'a3, x, last move' }).waitFor();
    assert.equal(await countMoves(bob), 1);
    // Without NumLock, the keys have the names of navigation keys, which have other functions
    // elsewhere.
    for (const [player, code, key, square] of [
      [bob, 'Numpad4', 'ArrowLeft', 'a2'],
      [ann, 'Numpad3', 'PageDown', 'c1'],
      [bob, 'Numpad1', 'End', 'a1'],
    ] as const) {
      await waitForMyTurn(player);
      await player.evaluate(
        (names) =>
          document.activeElement?.dispatchEvent(
            new KeyboardEvent('keydown', { ...names, bubbles: true }),
          ),
        { code, key },
      );
      await cell(player, square).and(player.getByLabel('last move')).waitFor();
    }
  }),
);

test(
  'two users play by link, and a third one watches',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const link = await inviteFriend(ann);
    await takeScreenshot(ann, 'invitation');
    const bob = await harness.openPage(link);
    await waitForMyTurn(ann);
    const eve = await harness.openPage(link);
    await eve.getByText('You are watching.').waitFor();
    await ann.getByText('1 watching').waitFor();
    // Eve's page counts only other spectators.
    assert.equal(await eve.locator('.watching').innerText(), '');
    for (const [player, square] of [
      [ann, 'a1'],
      [bob, 'b1'],
      [ann, 'a2'],
      [bob, 'b2'],
    ] as const) {
      await playMove(player, square);
    }
    await eve.getByRole('gridcell', { name: 'b2, o, last move' }).waitFor();
    assert.deepEqual(await legalSquares(eve), []);
    assert.deepEqual(await legalSquares(bob), []);
    await playMove(ann, 'a3');
    await waitForStatus(ann, 'You win!');
    await waitForStatus(bob, 'You lose.');
    await waitForStatus(eve, 'wins.');
    await bob.getByText('The line is a1, a2, a3.', { exact: true }).waitFor();
    await bob.getByRole('gridcell', { name: 'a3, x, last move, winning line' }).waitFor();
    await takeScreenshot(eve, 'watched');

    // Bob has to accept the rematch, and then both pages show it.
    await barButton(ann, 'Rematch').click();
    await ann
      .getByText(/^Waiting for guest-\w+ to accept\.$/)
      .first()
      .waitFor();
    await bob
      .getByText(/^guest-\w+ wants to play again, sides swapped\.$/)
      .first()
      .waitFor();
    await expectTitle(bob, /^● guest-\w+ wants to play again/);
    await takeScreenshot(bob, 'rematch');
    await bob.getByRole('button', { name: 'Decline' }).click();
    await ann.locator('#toast', { hasText: 'does not want to play again.' }).waitFor();
    await barButton(bob, 'Rematch').click();
    await ann.getByRole('button', { name: 'Accept' }).waitFor();
    await ann.keyboard.press('y');
    await bob.locator('.player', { hasText: 'X · you' }).waitFor();
    await waitForMyTurn(bob);
    await waitForSameUrl(ann, bob);
    await waitForStatus(ann, 'is to move.');
    assert.equal(await countMoves(ann), 0);
    // The score of the series: the player in the first seat lost the first match.
    assert.deepEqual(await ann.locator('.points').allInnerTexts(), ['0', '1']);
    await takeScreenshot(bob, 'series');
    await eve.getByRole('link', { name: 'Watch their next match' }).click();
    await eve.getByText('You are watching.').waitFor();
    await playMove(bob, 'b2');
    await eve.getByRole('gridcell', { name: 'b2, x, last move' }).waitFor();
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Cancel the match' }).click();
    await waitForStatus(ann, 'No result.');
    assert.deepEqual(await ann.locator('.points').allInnerTexts(), ['0', '1']);
  }),
);

test(
  'a player who left after the end can only be challenged again',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    await playMove(ann, 'b2');
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await ann.getByRole('button', { name: 'Rematch, sides swapped' }).waitFor();
    await bob.close();
    const left = ann.locator('.player', { hasText: 'has left' }).locator('.away');
    await left.waitFor();
    // A separator precedes the note, except on a phone.
    const separator = () => left.evaluate((note) => getComputedStyle(note, '::before').content);
    const size = ann.viewportSize();
    assert.equal(await separator(), '"· "');
    await ann.setViewportSize({ width: 390, height: 844 });
    assert.equal(await separator(), 'none');
    assert.equal(await left.innerText(), 'has left');
    if (size) await ann.setViewportSize(size);
    await takeScreenshot(ann, 'left');
    await ann.getByRole('button', { name: 'Challenge them, sides swapped' }).click();
    await waitForStatus(ann, /^Waiting for guest-\w+ to accept\.$/);
  }),
);

test(
  'simultaneous rematch offers start the rematch',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    await playMove(ann, 'b2');
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await Promise.all([ann, bob].map((page) => barButton(page, 'Rematch').click()));
    await waitForMyTurn(bob);
    await waitForSameUrl(ann, bob);
  }),
);

test(
  'a spectator can step back through the moves',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann));
    await playMove(ann, 'b2');
    await playMove(bob, 'a1');
    await playMove(ann, 'c3');
    // A page that loads during the match has the earlier moves, too.
    const eve = await harness.openPage(new URL(ann.url()).pathname);
    await eve.getByText('You are watching.').waitFor();
    await eve.locator('.moves button').nth(2).waitFor();
    await eve.keyboard.press('ArrowLeft');
    await waitForStatus(eve, 'After 2 of 3 moves.');
    await eve.getByRole('gridcell', { name: 'c3, empty' }).waitFor();
    await takeScreenshot(eve, 'looking-back');
    await playMove(bob, 'a3');
    await waitForStatus(eve, 'After 2 of 4 moves.');
    await eve.keyboard.press('Home');
    await eve.getByRole('gridcell', { name: 'b2, empty' }).waitFor();
    await eve.getByRole('button', { name: 'Back to now' }).click();
    await eve.getByRole('gridcell', { name: 'a3, o, last move' }).waitFor();
  }),
);

test(
  'a listed move keeps its focus when moves follow, and a takeback removes moves',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Connect Four'));
    const expectMoveList = (...rounds: string[]) =>
      eventually(async () =>
        assert.deepEqual(await ann.locator('.moves li').allTextContents(), rounds),
      );
    await playMoves(ann, bob, 'd1 c1 e1');
    const first = ann.getByRole('button', { name: 'Move 1, Red: 4', exact: true });
    await first.focus();
    await playMove(bob, 'c2');
    await expectMoveList('43', '53');
    assert.ok(await first.evaluate((button) => button === document.activeElement));
    await barButton(bob, 'Take back').click();
    await ann.getByRole('button', { name: 'Accept' }).click();
    await expectMoveList('43', '5');
    await playMove(bob, 'b1');
    await expectMoveList('43', '52');
  }),
);

test(
  'a step back from an unconfirmed move shows the position before it',
  withServer(async (harness) => {
    const page = await harness.openPage('about:blank');
    const messages = await interceptMessages(page);
    await page.goto('/');
    await startBotMatch(page, { game: 'Connect Four', side: 'Red' });
    await playMove(page, 'd1');
    await waitForMyTurn(page);
    // An empty square of the bottom row.
    const isTaken = (await cell(page, 'a1').and(page.getByLabel('empty')).count()) === 0;
    const square = isTaken ? 'b1' : 'a1';
    messages.hold();
    await cell(page, square).click();
    await waitForStatus(page, 'Playing …');
    await page.keyboard.press('ArrowLeft');
    await waitForStatus(page, 'After 2 of 3 moves.');
    await cell(page, square).and(page.getByLabel('empty')).waitFor();
    await page.keyboard.press('ArrowLeft');
    await waitForStatus(page, 'After 1 of 3 moves.');
    await page.getByRole('button', { name: 'One move forth' }).click();
    await waitForStatus(page, 'After 2 of 3 moves.');
    await page.getByRole('button', { name: 'One move forth' }).click();
    await waitForStatus(page, 'Playing …');
    await cell(page, square).and(page.getByLabel(/red/)).waitFor();
    await page.getByRole('button', { name: 'One move back' }).click();
    await waitForStatus(page, 'After 2 of 3 moves.');
    // Messages from the server do not change the shown position.
    messages.release();
    await waitForStatus(page, /^After 2 of [34] moves\.$/);
    await page.getByRole('button', { name: 'To now', exact: true }).click();
    await waitForMyTurn(page);
  }),
);

/** Allows a test to delay the messages from the server. */
async function interceptMessages(page: Page) {
  let held: (() => void)[] | null = null;
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      if (held) held.push(() => socket.send(text));
      else socket.send(text);
    });
  });
  return {
    hold: () => (held = []),
    release: () => {
      for (const send of held ?? []) send();
      held = null;
    },
  };
}

test(
  'a resignation needs one confirmation',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await startBotMatch(page, { game: 'Connect Four', side: 'Yellow' });
    await page.getByRole('button', { name: 'Resign …' }).click();
    await page.getByRole('button', { name: 'Play on' }).click();
    await page.getByRole('button', { name: 'Resign …' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Resign …' }).click();
    await page.getByRole('button', { name: 'Resign', exact: true }).click();
    await waitForStatus(page, 'You lose.');
    await page.getByText('You resigned.', { exact: true }).waitFor();
  }),
);

test(
  'two users who seek an opponent are paired before a bot joins',
  withServer(async (harness) => {
    // Both pages are open before the first seek, because a bot joins after 20 seconds.
    const [ann, bob] = [await harness.openPage(), await harness.openPage()];
    await ann.getByRole('button', { name: 'Find an opponent' }).click();
    await ann.getByText('the easy bot sits down in').waitFor();
    await takeScreenshot(ann, 'seeking');
    await bob.getByRole('button', { name: 'Find an opponent' }).click();
    for (const page of [ann, bob]) await page.getByRole('grid').waitFor();
    await waitForSameUrl(ann, bob);
  }),
);

test(
  'a match between two bots can be started and watched from the lobby',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    // A chess match lasts long enough for both users to watch it.
    await ann.getByRole('radio', { name: 'Chess', exact: true }).check();
    await ann.getByText('Or watch two bots').click();
    await ann.getByLabel('Pace').selectOption('Slow');
    await ann.getByRole('button', { name: 'Watch them' }).click();
    await ann.getByText('You are watching.').waitFor();
    const bob = await harness.openPage();
    await bob.getByRole('button', { name: /^Watch: / }).click();
    await bob.getByText('You are watching.').waitFor();
    await waitForSameUrl(ann, bob);
  }),
);

test(
  'the lobby leads to open matches and back to own matches',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    await createOpenMatch(ann);
    const bob = await harness.openPage();
    await bob.getByRole('button', { name: /^Join: / }).click();
    await ann.locator('.standing', { hasText: 'Your turn.' }).waitFor();
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    await bob.getByRole('button', { name: /^Go on: / }).click();
    await bob.getByText('O · you').waitFor();
  }),
);

test(
  'a toast reports events of a match that is out of sight and links to it',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const toast = ann.locator('#toast');
    const link = await inviteFriend(ann);
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.getByRole('button', { name: /^Play the/ }).waitFor();
    const bob = await harness.openPage(link);
    await toast.filter({ hasText: /^Tic-tac-toe against guest-\w+ begins: Your turn\./ }).waitFor();
    await expectTitle(ann, '● Your turn – Plyhouse');
    await takeScreenshot(ann, 'news');
    await toast.getByRole('link', { name: 'Go there' }).click();
    await playMove(ann, 'b2');
    await toast.filter({ hasText: /^$/ }).waitFor({ state: 'attached' });

    // The toast also appears on the page of another match.
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await inviteFriend(ann, 'Chess');
    await playMove(bob, 'a1');
    await toast.filter({ hasText: /^Tic-tac-toe against guest-\w+: Your turn\./ }).waitFor();
    await expectTitle(ann, /^● Your turn elsewhere – Waiting for an opponent\. – Chess/);
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await toast.filter({ hasText: /You win! guest-\w+ resigned\./ }).waitFor();
    await expectTitle(ann, /^Waiting for an opponent\./);
  }),
);

test(
  'at the limit of open matches, the page names them and the user can cancel one',
  withServer(
    async (harness) => {
      const ann = await harness.openPage();
      const openLobby = () => ann.getByRole('link', { name: 'Plyhouse' }).click();
      const ownMatches = ann.getByRole('button', { name: /^Open: / });
      for (let count = 0; count < 7; count++) {
        await inviteFriend(ann);
        await openLobby();
      }
      await ownMatches.nth(4).waitFor();
      assert.equal(await ownMatches.count(), 5);
      await ann.getByRole('button', { name: 'Invite a friend' }).click();
      await ann
        .locator('#toast', {
          hasText:
            /^You have 7 matches open, .*: (Tic-tac-toe \w{6}, ){2}Tic-tac-toe \w{6} and 4 more\./,
        })
        .waitFor();
      await takeScreenshot(ann, 'too-many');
      await ann.getByRole('button', { name: 'and 2 more' }).click();
      assert.equal(await ownMatches.count(), 7);
      await ownMatches.nth(5).locator('xpath=..').locator(':focus').waitFor();

      const first = ann.getByRole('button', { name: /^Cancel: / }).first();
      const code = (await first.getAttribute('aria-label'))?.slice(-6) ?? '';
      await first.click();
      await ann.getByRole('button', { name: `Open: ${code}` }).waitFor({ state: 'detached' });
      await inviteFriend(ann);
      // The cancelled match had no opponent, so it has no rematch.
      await ann.goto(`/m/${code}`);
      await waitForStatus(ann, 'No result.');
      const rematch = barButton(ann, 'Rematch');
      await rematch.and(ann.locator('[aria-disabled=true]')).waitFor({ state: 'attached' });
    },
    ['--live-matches', '7'],
  ),
);

test(
  'a bot can be added to an open match',
  withServer(async (harness) => {
    const page = await harness.openPage();
    await inviteFriend(page);
    // The preset level equals that of the lobby.
    const level = page.getByLabel('Level of the bot');
    assert.equal(await level.inputValue(), 'easy');
    await level.selectOption('Hard');
    await page.getByRole('button', { name: 'Add bot' }).click();
    await waitForMyTurn(page);
    await page.locator('.player', { hasText: 'Hard bot' }).waitFor();
  }),
);

test(
  'a game that the page does not know can be played',
  withServer(async (harness) => {
    const page = await harness.openPage();
    // Renames games in the messages, so that the page does not know them.
    const names = { 'tic-tac-toe': 'noughts', 'connect-four': 'drops' };
    await page.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      const pairs = Object.entries(names);
      socket.onMessage((text) =>
        server.send(
          pairs.reduce((all, [ours, theirs]) => all.replaceAll(theirs, ours), String(text)),
        ),
      );
      server.onMessage((text) =>
        socket.send(
          pairs.reduce((all, [ours, theirs]) => all.replaceAll(ours, theirs), String(text)),
        ),
      );
    });
    await page.reload();
    await startBotMatch(page, { game: 'Tic-tac-toe' });
    await playMove(page, 'b2');
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
    await page.getByRole('link', { name: 'Plyhouse' }).click();
    // Moves without squares have buttons beside the board.
    await startBotMatch(page, { game: 'Connect Four' });
    await page
      .getByRole('group', { name: 'Other moves' })
      .getByRole('button', { name: '4' })
      .click();
    await page.getByRole('gridcell', { name: /^d1, red/ }).waitFor();
    await waitForMyTurn(page);
    await takeScreenshot(page, 'unknown-game');
  }),
);
