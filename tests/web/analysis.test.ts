// What the search thinks: of a match that is over, move by move, and of the move that is best now.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  expectAccessible,
  isMatchOver,
  countMoves,
  waitForMyTurn,
  playMoves,
  startBotMatch,
  waitForStatus,
} from './page-actions.ts';
import { closeBrowser, withServer, takeScreenshot, selectVariants } from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/**
 * Options of a server whose analyses are limited by visited positions alone. With less time a busy machine visits fewer
 * positions, and judges moves otherwise.
 */
const UNHURRIED = ['--search-time', '60'];

/** Has a match looked at, and waits until it is. */
async function analyse(page: Page) {
  await page.getByRole('button', { name: 'Analyse' }).first().click();
  const panel = page.getByRole('region', { name: 'Analysis' });
  await panel.getByText(/accuracy \d+ of 100/).waitFor();
  return panel;
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
    `a match is looked at again: what was bad is marked, why it was, and what was better: ${size}`,
    withServer(async (house) => {
      const options = {
        viewport,
        reducedMotion: 'reduce' as const,
        axe: true,
      };
      const ann = await house.openPage('/', options);
      const bob = await house.openPage(await inviteFriend(ann, 'Chess'), options);
      await playMoves(ann, bob, 'e2-e4 e7-e5 d1-h5 b8-c6 f1-c4 g8-f6 h5-f7');
      await waitForStatus(bob, 'You lose.');
      const panel = await analyse(bob);
      const blunder = bob.getByRole('button', { name: /Nf6.*Blunder/ });
      await blunder.waitFor();
      await blunder.click();
      await panel.getByText('Blunder').waitFor();
      await panel.getByText(/After .* the other side wins with the next move\./).waitFor();
      await bob.locator('.drawn.advised').waitFor({ state: 'attached' });
      assert.ok((await panel.locator('.chances .bad').count()) > 0);
      await expectNoHorizontalOverflow(bob);
      await expectAccessible(bob, 'analysis');
      await takeScreenshot(bob, `analysis-${size}`);
      // Their own mistakes, one after the other: a better move is looked for on the board.
      await panel.getByRole('button', { name: 'Learn from your mistakes' }).click();
      await waitForStatus(bob, 'What is better?');
      const asked = bob.locator('.learning');
      // Beside a large board the analysis tells it.
      const told = size === 'desktop' ? panel.locator('.told') : asked;
      await told.getByText(/You played knight g8 to f6\./).waitFor();
      assert.equal(await bob.locator('.drawn.advised').count(), 0);
      await expectAccessible(bob, 'learning');
      await takeScreenshot(bob, `learning-${size}`);
      const choose = async (from: string, to: string) => {
        for (const square of [from, to]) await cell(bob, square).click();
      };
      await choose('g8', 'f6');
      await waitForStatus(bob, 'That is what you played.');
      await panel.getByText(/After .* the other side wins with the next move\./).waitFor();
      await asked.getByRole('button', { name: 'Try again' }).click();
      await choose('a7', 'a6');
      await waitForStatus(bob, 'The search prefers another.');
      await cell(bob, 'a6').and(bob.getByLabel('black pawn')).waitFor();
      await told.getByText(/how good pawn a7 to a6 is\.$/).waitFor();
      await expectNoHorizontalOverflow(bob);
      await takeScreenshot(bob, `tried-${size}`);
      await asked.getByRole('button', { name: 'Try again' }).click();
      await cell(bob, 'a7').and(bob.getByLabel('black pawn')).waitFor();
      await asked.getByRole('button', { name: 'Show it' }).click();
      await waitForStatus(bob, 'This was better.');
      await bob.locator('.drawn.advised').waitFor({ state: 'attached' });
      // Each thing is said once, here and where one has found it.
      const shown = told.getByText(/The best move is \w+ [a-h][1-8] to [a-h][1-8]\.$/);
      const better = await shown.textContent();
      assert.doesNotMatch(better ?? '', /would have/);
      await takeScreenshot(bob, `shown-${size}`);
      const [, from = '', to = ''] = /([a-h][1-8]) to ([a-h][1-8])/.exec(better ?? '') ?? [];
      await asked.getByRole('button', { name: 'Done' }).click();
      await waitForStatus(bob, 'You lose.');
      // Whoever finds it is told so.
      await panel.getByRole('button', { name: 'Learn from your mistakes' }).click();
      await waitForStatus(bob, 'What is better?');
      await choose(from, to);
      await waitForStatus(bob, 'That is the best move.');
      const found = size === 'desktop' ? panel.locator('.stands') : asked;
      await found
        .getByText(/(Black|White) [+\d]/)
        .first()
        .waitFor();
      assert.doesNotMatch((await found.textContent()) ?? '', /would have/);
      await takeScreenshot(bob, `found-${size}`);
      await bob.locator('.drawn.advised').waitFor({ state: 'attached' });
      // Whoever looks elsewhere learns no more.
      await bob.keyboard.press('ArrowLeft');
      await waitForStatus(bob, /^After \d of 7 moves\.$/);
      assert.equal(await asked.isVisible(), false);
      // What the bad move was worth stands there whole; beside a large board the analysis says it.
      await bob.keyboard.press('End');
      await bob.keyboard.press('ArrowLeft');
      const brief = bob.locator('.why', { hasText: /^Blunder\. / });
      await brief.waitFor();
      const [has, needs] = await brief.evaluate((why) => [why.clientHeight, why.scrollHeight]);
      assert.ok(size === 'desktop' || has >= needs, `${has} < ${needs}`);
      await takeScreenshot(bob, `judged-${size}`);
    }, UNHURRIED),
  );
}

/**
 * What of these is not to be read whole, or sticks out.
 * @param within each of which lies in the one before it
 */
const cutOff = (page: Page, ...within: string[]) =>
  page.evaluate(
    (parts) =>
      parts.flatMap((part, at) => {
        const one = document.querySelector(part);
        const outer = document.querySelector(parts[at - 1] ?? 'body');
        if (!one || !outer) return [`no ${part}`];
        const { clientHeight: has, scrollHeight: needs } = one;
        const [box, around] = [one.getBoundingClientRect(), outer.getBoundingClientRect()];
        const isIn = box.left >= around.left - 1 && box.right <= around.right + 1;
        // Letters may be a little higher than their line.
        const isWhole = has + 4 >= needs && one.clientWidth >= one.scrollWidth && box.width > 8;
        return isIn && isWhole ? [] : [`${part}: ${one.textContent}`];
      }),
    within,
  );

/** Windows of these widths, and of the same height: from 820 on the moves stand beside the board. */
const WIDTHS = [360, 390, 600, 820, 1024, 1200, 1400, 1600];

/** In the languages that are long. */
async function readsIn(page: Page, language: string) {
  await page.setViewportSize({ width: 1200, height: 800 });
  if (language !== 'English') await page.locator('header select').selectOption(language);
}

test(
  'that a match can be analysed stands there in a word in a window of any width, and moves nothing',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann));
    await playMoves(ann, bob, 'a1 b1 a2 c1 a3');
    await waitForStatus(bob, 'You lose.');
    await bob.getByRole('button', { name: 'Show the board' }).click();
    const place = () => bob.locator('.bar').getByRole('button').last().boundingBox();
    const names = [
      ['English', 'Analyse'],
      ['Deutsch', 'Analysieren'],
      ['Español', 'Analizar'],
    ] as const;
    for (const [language, analyses] of selectVariants(names, 'Deutsch')) {
      await readsIn(bob, language);
      const button = bob.locator('.bar').getByRole('button', { name: analyses, exact: true });
      for (const width of WIDTHS) {
        await bob.setViewportSize({ width, height: 800 });
        await button.waitFor();
        const cut = await cutOff(bob, '.bar', '.bar .analyse', '.bar .analyse span');
        assert.deepEqual(cut, [], `${language}, ${width}`);
      }
      const before = await place();
      await button.click();
      await bob.locator('.accuracy', { hasText: '100' }).waitFor();
      assert.equal(await button.isVisible(), false);
      assert.deepEqual(await place(), before);
    }
  }, UNHURRIED),
);

test(
  'how a move is judged, and what is asked of whoever learns from it, is read whole in a window of any width',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Chess'));
    await playMoves(ann, bob, 'e2-e4 e7-e5 d1-h5 b8-c6 f1-c4 g8-f6 h5-f7');
    await waitForStatus(bob, 'You lose.');
    await bob.getByRole('button', { name: 'Show the board' }).click();
    const names = [
      ['English', 'Blunder'],
      ['Deutsch', 'Grober Fehler'],
      ['Español', 'Error grave'],
    ] as const;
    for (const [language, judged] of selectVariants(names, 'Deutsch')) {
      await readsIn(bob, language);
      await bob.locator('.bar .analyse').click();
      await bob.locator('.accuracy', { hasText: '100' }).waitFor();
      await bob.locator('.moves button').nth(5).click();
      const isWhole = async (what: string, said: string, ...buttons: string[]) => {
        for (const width of WIDTHS) {
          await bob.setViewportSize({ width, height: 800 });
          // Beside a large board the analysis tells it, and here stand two buttons, with a word at most.
          const isBeside = width > 800;
          const words = isBeside && what !== 'judged' ? [] : await cutOff(bob, '.lower', said);
          const cut = [...words, ...(isBeside ? await cutOff(bob, '.lower', ...buttons) : [])];
          assert.deepEqual(cut, [], `${language}, ${what}, ${width}`);
          if (isBeside) await bob.locator('.told', { hasText: /\w/ }).waitFor();
          await expectNoHorizontalOverflow(bob);
        }
      };
      await bob.locator('.why.judged', { hasText: new RegExp(`^${judged}\\.`) }).waitFor();
      await isWhole('judged', '.lower > .why', '.asked', '.asked > .primary:not([hidden])');
      await takeScreenshot(bob, `judged-${language}`);
      const last = ['.learning', '.learning button:last-of-type'];
      const choose = async (from: string, to: string) => {
        for (const square of [from, to]) await cell(bob, square).click();
      };
      await bob.locator('.analysis button').click();
      await isWhole('asked', '.learning p', ...last);
      await choose('g8', 'f6');
      await isWhole('the same', '.learning p', ...last);
      await bob.locator('.learning button').first().click();
      await choose('a7', 'a6');
      await isWhole('another', '.learning p', ...last);
      await bob.locator('.learning button').nth(1).click();
      await isWhole('shown', '.learning p', ...last);
      // Whoever finds it is told how it stands.
      const best = await bob.locator('.told').textContent();
      const [from = '', to = ''] = best?.match(/[a-h][1-8]/g) ?? [];
      await bob.locator('.learning .primary').click();
      await bob.locator('.analysis button').click();
      await cell(bob, from).and(bob.locator('.movable')).waitFor();
      await choose(from, to);
      await bob.locator('.learning .primary').waitFor();
      await isWhole('found', '.learning p', ...last);
      await bob.locator('.learning .primary').click();
    }
  }, UNHURRIED),
);

for (const [size, options] of selectVariants(
  Object.entries({
    phone: { viewport: { width: 390, height: 844 } },
    desktop: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' as const },
  }),
  'desktop',
)) {
  test(
    `of every position of an analysed match one sees what it is worth and what is best there: ${size}`,
    withServer(async (house) => {
      const ann = await house.openPage();
      const bob = await house.openPage(await inviteFriend(ann, 'Chess'), {
        ...{ ...options, reducedMotion: 'reduce' as const, axe: true },
      });
      await playMoves(ann, bob, 'e2-e4 e7-e5 d1-h5 b8-c6 f1-c4 g8-f6 h5-f7');
      await waitForStatus(bob, 'You lose.');
      const panel = await analyse(bob);
      const worth = panel.locator('.worth');
      const bar = panel.locator('.value');
      const top = async () => (await bob.locator('.listed').boundingBox())?.y;
      /** What stands there for the position after so many moves. */
      const at = async (ply: number) => {
        const count = ply < 7 ? new RegExp(`^After ${ply} of 7 moves\\.$`) : 'You lose.';
        await waitForStatus(bob, count);
        const [box, share] = await Promise.all([
          bar.boundingBox(),
          bar.locator('div').boundingBox(),
        ]);
        const words = (await worth.textContent()) ?? '';
        // The bar shows what the words tell.
        const isWon = words.startsWith('White wins');
        const percent = isWon ? 100 : Number(/White (\d+) %$/.exec(words)?.[1]);
        const drawn = ((share?.width ?? 0) / ((box?.width ?? 0) - 2)) * 100;
        assert.ok(Math.abs(percent - drawn) <= 1, `${words}: ${drawn} %`);
        return { words, told: (await panel.locator('.told').textContent()) ?? '', y: await top() };
      };
      await bar.waitFor();
      const end = await at(7);
      assert.match(end.words, /^White wins$/);
      const seen = [];
      for (let ply = 6; ply >= 0; ply--) {
        await bob.keyboard.press('ArrowLeft');
        seen[ply] = await at(ply);
        await expectNoHorizontalOverflow(bob);
        if (ply === 6 || ply === 5) await takeScreenshot(bob, `worth-${size}-${ply}`);
      }
      // What stands below stays where it is.
      for (const { y, told } of seen) assert.equal(y, end.y, told);
      assert.match(seen[6]?.words ?? '', /^White wins with the next move$/);
      assert.match(seen[6]?.told ?? '', /^Blunder /);
      for (const ply of [0, 1, 5]) {
        assert.match(seen[ply]?.words ?? '', /^((White|Black) \+0\.\d\d|even)/);
        assert.match(seen[ply]?.told ?? '', /^The best move is \w+ [a-h]\d to [a-h]\d\.$/);
      }
      await expectAccessible(bob, 'the worth of a position');
      // It is in sight, and not below the window.
      await bob.evaluate(() => scrollTo(0, 0));
      const words = await panel.locator('.told p').boundingBox();
      assert.ok(words && words.y + words.height <= options.viewport.height, `${words?.y}`);
      // Also in the dark the first side is light, as it is told.
      const light = await panel.locator('.area').evaluate((area) => getComputedStyle(area).fill);
      const share = bar.locator('div');
      const shares = await share.evaluate((share) => getComputedStyle(share).backgroundColor);
      assert.equal(light, shares);
      // What is to be found is not told by what it would come to.
      await panel.getByRole('button', { name: 'Learn from your mistakes' }).click();
      await waitForStatus(bob, 'What is better?');
      assert.equal(await bar.isVisible(), false);
      assert.equal(await worth.textContent(), '');
      await bob.locator('.learning').getByRole('button', { name: 'Show it' }).click();
      await bar.waitFor();
      // In each language it is read whole.
      if (size !== 'phone') return;
      for (const language of ['Deutsch', 'Español', 'Français', '日本語', 'Português', '中文']) {
        await readsIn(bob, language);
        await bob.setViewportSize(options.viewport);
        await bob.locator('.bar .analyse').click();
        await bob.locator('.accuracy', { hasText: '100' }).waitFor();
        for (const [ply, told] of [
          [6, /Qxf7#/],
          [1, /e7.*e5/],
        ] as const) {
          await bob
            .locator('.moves button')
            .nth(ply - 1)
            .click();
          await bob.locator('.told', { hasText: told }).waitFor();
          const cut = await cutOff(bob, '.analysis', '.worth', '.worth strong');
          assert.deepEqual(cut, [], language);
          await expectNoHorizontalOverflow(bob);
        }
        await takeScreenshot(bob, `worth-${language}`);
      }
    }, UNHURRIED),
  );
}

test(
  'whoever has asked for the analysis by keyboard goes on from it',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann));
    await playMoves(ann, bob, 'a1 b1 a2 c1 a3');
    await bob.getByRole('button', { name: 'Show the board' }).click();
    await barButton(bob, 'Analyse').focus();
    await bob.keyboard.press('Enter');
    await bob.getByText(/accuracy \d+ of 100/).waitFor();
    await bob.keyboard.press('Tab');
    const within = await bob.evaluate(() => document.activeElement?.closest('section')?.ariaLabel);
    assert.equal(within, 'Analysis');
  }, UNHURRIED),
);

test(
  'whoever made no mistake is not asked to learn from one',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann));
    // Ann wins from the first mistake on, and makes none.
    await playMoves(ann, bob, 'a1 b1 a2 c1 a3');
    for (const page of [ann, bob]) await page.locator('.room.ended').waitFor();
    const learn = { name: 'Learn from your mistakes' };
    await (await analyse(bob)).getByRole('button', learn).waitFor();
    assert.equal(await (await analyse(ann)).getByRole('button', learn).isVisible(), false);
  }, UNHURRIED),
);

test(
  'of a match of each game it is told in words why a move was bad, and in other words than English',
  withServer(async (house) => {
    const [ann, bob] = [await house.openPage(), await house.openPage()];
    const twice = /The other side can threaten to win in two ways at once\./;
    const matches = [
      [
        'Chess',
        'e2-e4 e7-e5 d1-g4 d7-d6 g1-f3 c8-g4',
        5,
        /loses material\..*The other side answers Bxg4, and then \w+ .* …/,
      ],
      [
        'Draughts',
        '9-13 24-19 6-9 19-16 12-19 23-16 11-20',
        4,
        /loses material\..*The other side answers 12x19, and then \w+ .* …/,
      ],
      ['Connect Four', 'd1 d2 e1 e2 f1 f2 g1', 4, twice],
      ['Tic-tac-toe', 'a1 c3 c1 b1 a3 b2 a2', 2, twice],
      [
        'Othello',
        'f5 f6 d3',
        3,
        / d3 .*The other side has \d+ moves, not \d+\..* [a-h]\d would have/,
      ],
      [
        'Go',
        'D5 E5 E4 A1',
        4,
        /costs about \d+ points\. The stone stands alone on the edge.*The chances of White fall .*The other side answers \w+, and then .* …/,
      ],
      [
        'Gomoku',
        'h8 g8 h9 g9 a1 g10 a15',
        7,
        /An open three is left to the other side\..*The other side answers g(7|11), and then g\d+ g\d+\./,
      ],
    ] as const;
    for (const [game, played, bad, told] of selectVariants(matches, 'Chess', 'Tic-tac-toe')) {
      await bob.goto(await inviteFriend(ann, game));
      await playMoves(ann, bob, played);
      // The last move is told before the end that it may have brought.
      const next = played.split(' ').length % 2 === 0 ? ann : bob;
      if (!(await isMatchOver(next))) {
        await barButton(ann, 'Resign …').click();
        await ann.getByRole('button', { name: 'Resign', exact: true }).click();
      }
      await ann.locator('.room.ended').waitFor();
      const panel = await analyse(ann);
      const top = async () => (await ann.locator('.listed').boundingBox())?.y;
      await ann.locator('.moves button').first().click();
      const before = await top();
      await panel.getByRole('img', { name: /^The chances, move by move/ }).waitFor();
      await ann
        .locator('.moves button')
        .nth(bad - 1)
        .click();
      await panel.getByText(told).waitFor();
      await takeScreenshot(ann, `analysis-${game}`);
      // Black is dark, also where it is the first side.
      const area = await panel.locator('.area').evaluate((area) => getComputedStyle(area).fill);
      const share = await panel
        .locator('.share-0')
        .evaluate((share) => getComputedStyle(share).backgroundColor);
      const isDark = /Draughts|Othello|Go/.test(game);
      const first = isDark ? 'rgb(35, 33, 29)' : 'rgb(246, 243, 237)';
      assert.deepEqual([area, share], [first, first], game);
      if (isDark) await panel.getByRole('img', { name: /of white where it is light/i }).waitFor();
      // Whoever goes on through the moves finds the next one where it was.
      assert.equal(await top(), before, game);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
    }
    await ann.getByLabel('Language').selectOption('Deutsch');
    await ann.getByRole('link', { name: 'Alle deine Spiele' }).click();
    const match = ann.locator('.rows li', { hasText: 'Tic-Tac-Toe' });
    await match.getByRole('button', { name: /^Nachspielen/ }).click();
    await ann.getByRole('button', { name: 'Analysieren' }).click();
    await ann.getByText(/Genauigkeit \d+ von 100/).waitFor();
  }, UNHURRIED),
);

/** Analyses a match of tic-tac-toe in which c3 was a blunder, of which the server tells this and nothing else. */
async function blunder(
  house: import('./support.ts').TestHarness,
  told: object,
  judged: string = 'blunder',
) {
  const ann = await house.openPage();
  await ann.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      const message = JSON.parse(String(text));
      for (const ply of message.type === 'analysis' ? message.plies : []) {
        if (!ply.why) continue;
        Object.assign(ply.why, told);
        ply.judged = judged;
      }
      socket.send(JSON.stringify(message));
    });
  });
  await ann.reload();
  const bob = await house.openPage(await inviteFriend(ann));
  await playMoves(ann, bob, 'a1 c3 c1 b1 a3 a2 b2');
  const panel = await analyse(ann);
  await ann.getByRole('button', { name: new RegExp(`c3.*${judged}`, 'i') }).click();
  return panel;
}

test(
  'what a later server says of a move in words that the page does not know is said in its own',
  withServer(async (house) => {
    const panel = await blunder(house, {
      kind: 'later_kind',
      signs: [{ sign: 'later_sign' }],
    });
    await panel.getByText(/^Blunder .*makes the chances worse\./).waitFor();
    assert.doesNotMatch((await panel.textContent()) ?? '', /later/);
  }, UNHURRIED),
);

test(
  'a move that only gave points away did not give the win away',
  withServer(async (house) => {
    const panel = await blunder(house, {
      kind: 'loses_points',
      points: 14,
      keeps: 'win',
      signs: [],
    });
    await panel.getByText(/gives 14 points away\..*\w+ would have been better\./).waitFor();
  }, UNHURRIED),
);

test(
  'a win that was left out where another may follow is not gone',
  withServer(async (house) => {
    const told = { kind: 'misses_win', in: 1, keeps: 'win', signs: [] };
    const panel = await blunder(house, told, 'inaccuracy');
    await panel
      .getByText(/^Inaccuracy .*makes the win less sure\..*\w+ would have won at once\./)
      .waitFor();
  }, UNHURRIED),
);

test(
  'what was not looked at to the end may be asked for again',
  withServer(async (house) => {
    const ann = await house.openPage();
    let isFailing = true;
    await ann.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      server.onMessage((text) => {
        const { type, match, done, of } = JSON.parse(String(text));
        if (!isFailing || type !== 'analysis' || done < of) return socket.send(text);
        isFailing = false;
        const error = {
          code: 'overloaded',
          message: 'ask again',
          retryable: true,
        };
        socket.send(JSON.stringify({ type: 'error', match, ...error }));
      });
    });
    await ann.reload();
    const bob = await house.openPage(await inviteFriend(ann));
    await playMoves(ann, bob, 'a1 c3 c1 b1 a3 a2 b2');
    await ann.getByRole('button', { name: 'Analyse' }).first().click();
    await ann.locator('#toast', { hasText: 'The server has more to do' }).waitFor();
    await analyse(ann);
  }, UNHURRIED),
);

test(
  'whoever has had two bots play has their match looked at, and nobody else',
  withServer(async (house) => {
    const ann = await house.openPage();
    await ann.getByRole('radio', { name: 'Tic-tac-toe', exact: true }).check();
    await ann.getByText('Or watch two bots').click();
    await ann.getByLabel('Pace').selectOption('Fast');
    await ann.getByRole('button', { name: 'Watch them' }).click();
    await ann.getByRole('grid').waitFor();
    const eve = await house.openPage(new URL(ann.url()).pathname);
    for (const page of [ann, eve]) await page.locator('.room.ended').waitFor();
    const panel = await analyse(ann);
    // None of the mistakes was one's own.
    assert.equal(
      await panel.getByRole('button', { name: 'Learn from your mistakes' }).isVisible(),
      false,
    );
    assert.equal(await eve.getByRole('button', { name: 'Analyse' }).count(), 0);
  }, UNHURRIED),
);

test(
  'against a bot there is a hint, which is drawn',
  withServer(async (house) => {
    const ann = await house.openPage('/', { axe: true });
    for (const [game, why] of [
      // How it stands, and the answer that is expected.
      ['Chess', /By the search: White \+0\.\d\d · White \d\d %\. The other side answers \w+\.$/],
      ['Connect Four', /By the search: .*\. The other side answers \d\.$/],
      ['Tic-tac-toe', /By the search: a draw\. The other side answers [abc][123]\.$/],
    ] as const) {
      await startBotMatch(ann, { game });
      await waitForMyTurn(ann);
      await barButton(ann, 'Hint: the best move').click();
      await ann.locator('.drawn.advised').waitFor({ state: 'attached' });
      await ann.locator('#toast', { hasText: /^The best move is / }).waitFor();
      await ann.locator('#toast', { hasText: why }).waitFor();
      assert.equal(await countMoves(ann), 0);
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'hint');
      await takeScreenshot(ann, `hint-${game}`);
      await ann.getByRole('link', { name: 'Plyhouse' }).click();
    }
    // With a person there is none.
    await house.openPage(await inviteFriend(ann, 'Chess'));
    await waitForMyTurn(ann);
    assert.equal(await barButton(ann, 'Hint: the best move').isVisible(), false);
  }),
);
