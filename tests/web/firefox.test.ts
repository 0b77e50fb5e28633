// Tests the page in Firefox: play in each game, and features that depend on the browser.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  closeFirefox,
  disconnectOnNextMove,
  withFirefox,
  expectAccessible,
  isMatchOver,
  countMoves,
  waitForMyTurn,
  playMove,
  playAnyMoves,
  startBotMatch,
  playAndWait,
  clickByName,
  waitForText,
  waitForStatus,
  waitForSquare,
} from './firefox.ts';
import { ALL_VARIANTS } from './support.ts';

import type { Page } from './firefox.ts';

after(closeFirefox);

/** Firefox takes several times the CPU time of Chromium: without `ALL=1` one test runs. */
const ONLY_WITH_ALL = { skip: !ALL_VARIANTS };

/** Number of own moves to play in each game. Small games are played to the end. */
const MOVES_PER_GAME = {
  'Tic-tac-toe': Infinity,
  'Connect Four': Infinity,
  Othello: 4,
  Draughts: 4,
  Chess: 4,
  Gomoku: 3,
  Go: 3,
};

/** Finds the arrow keys that lead from the focused square to the target. */
async function findArrowKeys(page: Page, target: string) {
  const from = await page.evaluate(() => document.activeElement?.getAttribute('data-square') ?? '');
  const [right = 0, up = 0] = [0, 1].map((axis) => target.charCodeAt(axis) - from.charCodeAt(axis));
  return [
    ...Array(Math.abs(right)).fill(right > 0 ? 'ArrowRight' : 'ArrowLeft'),
    ...Array(Math.abs(up)).fill(up > 0 ? 'ArrowUp' : 'ArrowDown'),
  ] as const;
}

test(
  'every game is played against a bot by clicking',
  ONLY_WITH_ALL,
  withFirefox(async (harness) => {
    const page = await harness.openPage();
    for (const [game, count] of Object.entries(MOVES_PER_GAME)) {
      await startBotMatch(page, game);
      await playAnyMoves(page, count);
      assert.equal(await isMatchOver(page), count === Infinity, game);
      if (count !== Infinity) assert.ok((await countMoves(page)) >= 2 * count, game);
      await clickByName(page, 'a', 'Plyhouse');
    }
  }),
);

test(
  'a match is played by keyboard, in German',
  withFirefox(async (harness) => {
    const page = await harness.openPage();
    await waitForText(page, 'h1, h2', 'What shall we play?');
    await expectAccessible(page, 'lobby');
    await page.select('select:has([value=de])', 'de');
    await waitForText(page, 'h1, h2', 'Was spielen wir?');
    assert.equal(await page.$eval('html', ({ lang }) => lang), 'de');
    await expectAccessible(page, 'lobby in German');
    await page.focus('[value=tic-tac-toe]');
    await page.keyboard.press(' ');
    await page.focus('.way.first button');
    await page.keyboard.press('Enter');
    await waitForText(page, '.room.my-turn .standing', 'Du bist am Zug.');
    while (!(await isMatchOver(page))) {
      await playAndWait(page, async () => {
        await page.focus('[role=gridcell][tabindex="0"]');
        const target = await page.$eval('.cells .legal', (cell) =>
          cell.getAttribute('data-square'),
        );
        for (const key of await findArrowKeys(page, target ?? '')) await page.keyboard.press(key);
        await page.keyboard.press('Enter');
      });
    }
  }),
);

test(
  'two players finish a match despite a lost connection, analyse it, and challenge each other',
  ONLY_WITH_ALL,
  withFirefox(async (harness) => {
    const ann = await harness.openPage();
    await clickByName(ann, 'label span', 'Chess');
    await clickByName(ann, 'button', 'Invite a friend');
    await ann.waitForSelector('input#link');
    await expectAccessible(ann, 'an open match');
    const link = await ann.$eval('input#link', ({ value }) => value);
    const bob = await harness.openPage(new URL(link).pathname);
    await playMove(ann, 'e2', 'e4');
    await playMove(bob, 'e7', 'e5');
    await expectAccessible(ann, 'a match');
    await clickByName(ann, 'button', 'Resign …');
    await waitForText(ann, '.asking', 'Resign');
    await expectAccessible(ann, 'confirmation of resigning');
    await clickByName(ann, 'button', 'Play on');
    await clickByName(bob, 'button', 'Offer a draw');
    await waitForText(ann, 'button', 'Accept');
    await expectAccessible(ann, 'a draw offer');

    await playMove(ann, 'd1', 'h5');
    await waitForMyTurn(bob);
    harness.expectsFailures = true;
    await disconnectOnNextMove(bob);
    await bob.click('[data-square=b8]');
    await bob.click('[data-square=c6]');
    await waitForText(bob, 'body', 'Next try in');
    await bob.setOfflineMode(false);
    await waitForMyTurn(ann);
    await waitForSquare(ann, 'c6, black knight, last move');
    await playMove(ann, 'f1', 'c4');
    await playMove(bob, 'g8', 'f6');
    await playMove(ann, 'h5', 'f7');
    await waitForStatus(ann, 'You win!');
    await waitForStatus(bob, 'You lose.');
    await waitForSquare(bob, 'e8, black king, in check');
    await bob.waitForSelector('.result:not([hidden])');
    await expectAccessible(bob, 'a finished match with its result');
    await bob.keyboard.press('ArrowLeft');
    await waitForStatus(bob, 'After 6 of 7 moves.');
    await expectAccessible(bob, 'an earlier position of a finished match');
    await bob.keyboard.press('End');
    await waitForStatus(bob, 'You lose.');

    await clickByName(bob, 'button', 'Analyse');
    await waitForText(bob, '[aria-label="Analysis"]', 'accuracy');
    await bob.keyboard.press('ArrowLeft');
    await waitForStatus(bob, 'After 6 of 7 moves.');
    await waitForText(bob, '.why', 'Blunder.');
    await expectAccessible(bob, 'an analysis');
    await clickByName(bob, 'button', 'Learn from your mistakes');
    await waitForStatus(bob, 'What is better?');
    await expectAccessible(bob, 'a mistake to learn from');

    await clickByName(ann, 'a', 'Plyhouse');
    await (await ann.waitForSelector('button[aria-label^="Challenge guest-"]'))?.click();
    await waitForStatus(ann, 'to accept.');
    await expectAccessible(ann, 'a sent challenge');
    await waitForText(bob, '#challenges', 'challenges you');
    await expectAccessible(bob, 'a received challenge');
  }),
);

test(
  'a position is set up and played from',
  ONLY_WITH_ALL,
  withFirefox(async (harness) => {
    const page = await harness.openPage('/setup');
    await page.waitForSelector('select:has([value=chess])');
    await page.select('select:has([value=chess])', 'chess');
    await clickByName(page, 'button', 'Empty board');
    const putPiece = async (piece: string, square: string) => {
      await page.click(`.palette [title="${piece}"]`);
      await page.click(`[role=gridcell][data-square=${square}]`);
      await waitForSquare(page, `${square}, ${piece}`);
    };
    await putPiece('white king', 'e1');
    await putPiece('white queen', 'd1');
    await putPiece('black king', 'e8');
    await expectAccessible(page, 'a position');
    await clickByName(page, 'button', 'Play from here');
    await waitForMyTurn(page);
    await waitForSquare(page, 'd1, white queen');
    await playMove(page, 'd1', 'd7');
  }),
);

test(
  'the page loads and plays offline',
  ONLY_WITH_ALL,
  withFirefox(async (harness) => {
    const page = await harness.openPage();
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    harness.expectsFailures = true;
    await harness.server.kill();
    await page.reload();
    await clickByName(page, 'button', 'Play without it');
    await waitForText(page, 'body', 'You play without the server');
    await expectAccessible(page, 'offline lobby');
    await startBotMatch(page, 'Connect Four');
    await playAnyMoves(page, Infinity);
    assert.ok(await isMatchOver(page));
    await expectAccessible(page, 'an offline match');
  }),
);

test(
  'less common views pass axe',
  ONLY_WITH_ALL,
  withFirefox(async (harness) => {
    const page = await harness.openPage('/you');
    const checkView = async (path: string, text: string) => {
      await page.goto(new URL(path, harness.server.url).href);
      await waitForText(page, 'main', text);
      await expectAccessible(page, path);
    };
    await page.waitForSelector('#account-name');
    await page.type('#account-name', 'ada');
    await page.type('#account-password', 'correct horse battery');
    await clickByName(page, 'button', 'Sign up');
    await waitForText(page, 'h2', 'Your name is your own');
    for (const [path, text] of Object.entries({
      '/games': 'My games',
      '/leaders': 'Leaderboards',
      '/you': 'Your devices',
      '/pair': 'Code or recovery key',
      '/player/ada': 'ada',
    })) {
      await checkView(path, text);
    }
    await checkView('/', 'What shall we play?');
    await clickByName(page, 'button', 'Board and pieces');
    await waitForText(page, 'dialog', 'Slate');
    await expectAccessible(page, 'board and pieces');
    await clickByName(page, 'button', 'Done');
    await clickByName(page, 'button', 'Rules');
    await waitForText(page, 'dialog', 'Rules of');
    await expectAccessible(page, 'rules');
    await page.keyboard.press('Escape');
    // The other page opens first, because a bot ends the search after 20 seconds.
    const other = await harness.openPage();
    await clickByName(page, 'button', 'Find an opponent');
    await waitForText(page, 'h1, h2', 'Looking for an opponent:');
    await waitForText(other, '.seekers', 'ada');
    await expectAccessible(page, 'a search');
    await expectAccessible(other, 'a list of searching players');
  }),
);
