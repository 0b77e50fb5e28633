// The page in Firefox: what people do most, in each game, and what else depends on the browser.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  closeFirefox,
  cutOff,
  inFirefox,
  isOpenToAll,
  isOver,
  moves,
  myTurn,
  play,
  playAnything,
  playBot,
  playing,
  press,
  reads,
  says,
  sees,
} from './firefox.ts';
import { ALL } from './support.ts';

import type { Page } from './firefox.ts';

after(closeFirefox);

/** Firefox takes several times the CPU time of Chromium: without `ALL=1` one test runs. */
const WITH_ALL = { skip: !ALL };

/** How many moves of one's own are played in each game; the small ones are played to their end. */
const GAMES = {
  'Tic-tac-toe': Infinity,
  'Connect Four': Infinity,
  Othello: 4,
  Draughts: 4,
  Chess: 4,
  Gomoku: 3,
  Go: 3,
};

/** Which arrows lead from the square that has the focus to another. */
async function way(page: Page, target: string) {
  const from = await page.evaluate(() => document.activeElement?.getAttribute('data-square') ?? '');
  const [right = 0, up = 0] = [0, 1].map((at) => target.charCodeAt(at) - from.charCodeAt(at));
  return [
    ...Array(Math.abs(right)).fill(right > 0 ? 'ArrowRight' : 'ArrowLeft'),
    ...Array(Math.abs(up)).fill(up > 0 ? 'ArrowUp' : 'ArrowDown'),
  ] as const;
}

test(
  'every game is played against a bot by clicking',
  WITH_ALL,
  inFirefox(async (foxes) => {
    const page = await foxes.visitor();
    for (const [game, most] of Object.entries(GAMES)) {
      await playBot(page, game);
      await playAnything(page, most);
      assert.equal(await isOver(page), most === Infinity, game);
      if (most !== Infinity) assert.ok((await moves(page)) >= 2 * most, game);
      await press(page, 'a', 'Plyhouse');
    }
  }),
);

test(
  'a match is played by keyboard, in another language',
  inFirefox(async (foxes) => {
    const page = await foxes.visitor();
    await reads(page, 'h1, h2', 'What shall we play?');
    await isOpenToAll(page, 'lobby');
    await page.select('select:has([value=de])', 'de');
    await reads(page, 'h1, h2', 'Was spielen wir?');
    assert.equal(await page.$eval('html', ({ lang }) => lang), 'de');
    await isOpenToAll(page, 'lobby in German');
    await page.focus('[value=tic-tac-toe]');
    await page.keyboard.press(' ');
    await page.focus('.way.first button');
    await page.keyboard.press('Enter');
    await reads(page, '.room.my-turn .standing', 'Du bist am Zug.');
    while (!(await isOver(page))) {
      await playing(page, async () => {
        await page.focus('[role=gridcell][tabindex="0"]');
        const target = await page.$eval('.cells .legal', (cell) =>
          cell.getAttribute('data-square'),
        );
        for (const key of await way(page, target ?? '')) await page.keyboard.press(key);
        await page.keyboard.press('Enter');
      });
    }
  }),
);

test(
  'two play each other, one of whom is cut off for a while, and look at it again',
  WITH_ALL,
  inFirefox(async (foxes) => {
    const ann = await foxes.visitor();
    await press(ann, 'label span', 'Chess');
    await press(ann, 'button', 'Invite a friend');
    await ann.waitForSelector('input#link');
    await isOpenToAll(ann, 'an open match');
    const link = await ann.$eval('input#link', ({ value }) => value);
    const bob = await foxes.visitor(new URL(link).pathname);
    await play(ann, 'e2', 'e4');
    await play(bob, 'e7', 'e5');
    await isOpenToAll(ann, 'a match');
    await press(ann, 'button', 'Resign …');
    await reads(ann, '.asking', 'Resign');
    await isOpenToAll(ann, 'whether to resign');
    await press(ann, 'button', 'Play on');
    await press(bob, 'button', 'Offer a draw');
    await reads(ann, 'button', 'Accept');
    await isOpenToAll(ann, 'a draw is offered');

    await play(ann, 'd1', 'h5');
    await myTurn(bob);
    foxes.expectsFailures = true;
    await cutOff(bob);
    await bob.click('[data-square=b8]');
    await bob.click('[data-square=c6]');
    await reads(bob, 'body', 'Next try in');
    await bob.setOfflineMode(false);
    await myTurn(ann);
    await sees(ann, 'c6, black knight, last move');
    await play(ann, 'f1', 'c4');
    await play(bob, 'g8', 'f6');
    await play(ann, 'h5', 'f7');
    await says(ann, 'You win!');
    await says(bob, 'You lose.');
    await sees(bob, 'e8, black king, in check');
    await bob.waitForSelector('.result:not([hidden])');
    await isOpenToAll(bob, 'a match that is over, and its result over the board');
    await bob.keyboard.press('ArrowLeft');
    await says(bob, 'After 6 of 7 moves.');
    await isOpenToAll(bob, 'a match that is looked at again');
    await bob.keyboard.press('End');
    await says(bob, 'You lose.');

    await press(bob, 'button', 'Analyse');
    await reads(bob, '[aria-label="Analysis"]', 'accuracy');
    await bob.keyboard.press('ArrowLeft');
    await says(bob, 'After 6 of 7 moves.');
    await reads(bob, '.why', 'Blunder.');
    await isOpenToAll(bob, 'an analysis');
    await press(bob, 'button', 'Learn from your mistakes');
    await says(bob, 'What is better?');
    await isOpenToAll(bob, 'a mistake to learn from');

    await press(ann, 'a', 'Plyhouse');
    await (await ann.waitForSelector('button[aria-label^="Challenge guest-"]'))?.click();
    await says(ann, 'to accept.');
    await isOpenToAll(ann, 'a challenge of one’s own');
    await reads(bob, '#challenges', 'challenges you');
    await isOpenToAll(bob, 'challenged');
  }),
);

test(
  'a position is set up, and played from',
  WITH_ALL,
  inFirefox(async (foxes) => {
    const page = await foxes.visitor('/setup');
    await page.waitForSelector('select:has([value=chess])');
    await page.select('select:has([value=chess])', 'chess');
    await press(page, 'button', 'Empty board');
    const put = async (piece: string, square: string) => {
      await page.click(`.palette [title="${piece}"]`);
      await page.click(`[role=gridcell][data-square=${square}]`);
      await sees(page, `${square}, ${piece}`);
    };
    await put('white king', 'e1');
    await put('white queen', 'd1');
    await put('black king', 'e8');
    await isOpenToAll(page, 'a position');
    await press(page, 'button', 'Play from here');
    await myTurn(page);
    await sees(page, 'd1, white queen');
    await play(page, 'd1', 'd7');
  }),
);

test(
  'without the server the page opens, and plays',
  WITH_ALL,
  inFirefox(async (foxes) => {
    const page = await foxes.visitor();
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    foxes.expectsFailures = true;
    await foxes.server.kill();
    await page.reload();
    await press(page, 'button', 'Play without it');
    await reads(page, 'body', 'You play without the server');
    await isOpenToAll(page, 'without the server');
    await playBot(page, 'Connect Four');
    await playAnything(page, Infinity);
    assert.ok(await isOver(page));
    await isOpenToAll(page, 'a match without the server');
  }),
);

test(
  'what is rarely looked at is open to all, too',
  WITH_ALL,
  inFirefox(async (foxes) => {
    const page = await foxes.visitor('/you');
    const looks = async (path: string, shown: string) => {
      await page.goto(new URL(path, foxes.server.url).href);
      await reads(page, 'main', shown);
      await isOpenToAll(page, path);
    };
    await page.waitForSelector('#account-name');
    await page.type('#account-name', 'ada');
    await page.type('#account-password', 'correct horse battery');
    await press(page, 'button', 'Sign up');
    await reads(page, 'h2', 'Your name is your own');
    for (const [path, shown] of Object.entries({
      '/games': 'My games',
      '/leaders': 'Leaderboards',
      '/you': 'Your devices',
      '/pair': 'Code or recovery key',
      '/player/ada': 'ada',
    })) {
      await looks(path, shown);
    }
    await looks('/', 'What shall we play?');
    await press(page, 'button', 'Board and pieces');
    await reads(page, 'dialog', 'Slate');
    await isOpenToAll(page, 'how it is drawn');
    await press(page, 'button', 'Done');
    await press(page, 'button', 'Rules');
    await reads(page, 'dialog', 'Rules of');
    await isOpenToAll(page, 'rules');
    await page.keyboard.press('Escape');
    // There before the search begins, which a bot ends after 20 seconds.
    const other = await foxes.visitor();
    await press(page, 'button', 'Find an opponent');
    await reads(page, 'h1, h2', 'Looking for an opponent:');
    await reads(other, '.seekers', 'ada');
    await isOpenToAll(page, 'a search');
    await isOpenToAll(other, 'somebody looks for an opponent');
  }),
);
