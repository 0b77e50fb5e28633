// Any position of any game is set up, by its text, by mouse or by keyboard; one plays from there, or asks a bot.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  expectNoHorizontalOverflow,
  barButton,
  inviteFriend,
  expectAccessible,
  waitForMyTurn,
  playMoves,
  waitForStatus,
  signUp,
} from './page-actions.ts';
import {
  ALL_VARIANTS,
  closeBrowser,
  withServer,
  takeScreenshot,
  selectVariants,
} from './support.ts';

import type { Page } from './support.ts';

after(closeBrowser);

/**
 * What is pasted for each game, what is then to be seen, and as what a match begins with it; a text that is wrong,
 * and why it is.
 */
const TEXTS = [
  {
    game: 'Chess',
    text: '4k3/4p3/8/8/8/8/4P3/4K2R w K - 3 20',
    seen: ['h1, white rook', 'e7, black pawn', 'a1, empty'],
    turn: 'White',
    bad: '4k3/4p3/8/8/8/8/4P3/4K2 w K - 3 20',
    why: 'Row 8 from the top has 7 squares in place of 8.',
  },
  {
    game: 'Chess',
    text: '4k3/4p3/8/8/8/8/4P3/4K2R w K - bm O-O; fmvn 20; hmvc 3; id "castles";',
    seen: ['h1, white rook', 'e7, black pawn', 'a1, empty'],
    turn: 'White',
    bad: '4k3/4p3/8/8/8/8/4P3/4K2R w K - e2e4',
    why: '“e2e4” stands where a number belongs.',
  },
  {
    game: 'Draughts',
    text: '[FEN "W:W18,K31:B5,K9."]',
    seen: ['18, white man', '31, white king', '9, black king'],
    turn: 'White',
    bad: 'W:W18,K33:B5',
    why: '“K33” is no square: these are numbers from 1 to 32.',
  },
  {
    game: 'Connect Four',
    text: '......./......./......./......./...y.../..rry.r',
    seen: ['d2, yellow', 'c1, red'],
    turn: 'Yellow',
    bad: '......./......./......./......./..rry.r',
    why: '6 rows are needed, with / between them; here there are 5.',
  },
  {
    game: 'Tic-tac-toe',
    text: 'x.o/.x./...',
    seen: ['a3, x', 'c3, o', 'b2, x'],
    turn: 'O',
    bad: 'x.o/.z./...',
    why: '“z” is no piece here.',
  },
  {
    game: 'Othello',
    text: '(;GM[2]SZ[8]AB[dc][dd][ed][de]AW[ee]PL[W])',
    seen: ['d3, black', 'e5, white', 'a1, empty'],
    turn: 'White',
    bad: '---*O---',
    why: '64 squares and whose turn it is are 65 characters; here there are 8.',
  },
  {
    game: 'Othello',
    text: `${'.'.repeat(19)}X${'.'.repeat(7)}XX${'.'.repeat(6)}X0${'.'.repeat(27)} 0; C5:+1; % a board file`,
    seen: ['d3, black', 'e5, white', 'a1, empty'],
    turn: 'White',
    bad: `${'.'.repeat(64)} ?`,
    why: '“?” is no piece here.',
  },
  {
    game: 'Go',
    text: '(;GM[1]FF[4]SZ[9]AB[cc][gg][cg][gc]PL[W])',
    seen: ['C7, black', 'G3, black', 'E5, empty'],
    turn: 'White',
    bad: '(;GM[1]SZ[19]AB[dd])',
    why: 'This board has 19 lines in place of 9.',
  },
  {
    game: 'Gomoku',
    text: '15/15/15/15/15/15/15/6wbb6/15/15/15/15/15/15/15',
    seen: ['g8, white', 'h8, black'],
    turn: 'White',
    bad: '(;GM[4]SZ[15];B[hh];W[hg])',
    why: 'This SGF tells moves, and sets nothing up (AB, AW).',
  },
];

/** What names of pieces are put down by keyboard in each game, and what comes of it. */
const PIECES = {
  Chess: { piece: 'white queen', square: 'd4', seen: 'd4, white queen' },
  // On the last row a man is a king.
  Draughts: { piece: 'black man', square: '31', seen: '31, black king' },
  // Where it falls to.
  'Connect Four': { piece: 'red', square: 'c5', seen: 'c1, red' },
  'Tic-tac-toe': { piece: 'x', square: 'c1', seen: 'c1, x' },
  Othello: { piece: 'white', square: 'c3', seen: 'c3, white' },
  Go: { piece: 'white', square: 'E5', seen: 'E5, white' },
  Gomoku: { piece: 'black', square: 'h8', seen: 'h8, black' },
};

/** @param words of a square */
const sees = (page: Page, words: string) =>
  page.getByRole('gridcell', { name: words, exact: true }).waitFor();

async function setUp(page: Page, game: string) {
  await page.getByRole('combobox', { name: 'Game', exact: true }).selectOption(game);
  await page.getByRole('grid', { name: `Board of ${game}` }).waitFor();
}

const text = (page: Page) => page.getByLabel('Position as text');
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const stands = (page: Page, words: string | RegExp) =>
  page.locator('.stands', { hasText: words }).waitFor();

/** The games of which every text is tried and a position set up without `ALL=1`. */
const USUAL = ['Chess', 'Draughts', 'Connect Four', 'Go'];

for (const { game, text: pasted, seen, turn, bad, why } of TEXTS) {
  if (!ALL_VARIANTS && !USUAL.includes(game)) continue;
  test(
    `a position is pasted, looked at, and played from: ${game}`,
    withServer(async (house) => {
      const phone = { width: 390, height: 844 };
      const ann = await house.openPage('/setup', { viewport: phone, axe: true });
      await setUp(ann, game);
      await text(ann).fill(bad);
      await ann.getByRole('alert').filter({ hasText: why }).waitFor();
      await expectAccessible(ann, 'a text that is wrong');
      // What is wrong with it is told to whoever goes on all the same.
      await press(ann, 'Play from here');
      await ann.locator('#toast', { hasText: why }).waitFor();
      await text(ann).fill(pasted);
      for (const words of seen) await sees(ann, words);
      await stands(ann, `${turn} is to move.`);
      assert.equal(await ann.getByRole('alert').filter({ hasText: /./ }).count(), 0);
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'a position');
      await takeScreenshot(ann, `setup-${game}`);
      // The address leads to the same.
      await ann.reload();
      for (const words of seen) await sees(ann, words);
      const written = await text(ann).inputValue();
      assert.match(written, /^(\(;GM|[^(]*$)/);
      if (game === 'Chess') assert.match(written, /K - 3 20$/);
      await press(ann, 'Play from here');
      await waitForMyTurn(ann);
      for (const words of seen) await sees(ann, words);
    }),
  );
}

for (const [game, { piece, square, seen }] of selectVariants(Object.entries(PIECES), ...USUAL)) {
  test(
    `a position is set up by mouse and by keyboard: ${game}`,
    withServer(async (house) => {
      const ann = await house.openPage('/setup', { viewport: { width: 844, height: 390 } });
      await setUp(ann, game);
      await press(ann, 'Empty board');
      assert.equal(await ann.getByRole('gridcell', { name: /, empty$/ }).count(), await cells(ann));
      const before = await text(ann).inputValue();
      await ann.getByRole('radio', { name: piece, exact: true }).first().check();
      await cell(ann, square).click();
      await sees(ann, seen);
      const after = await text(ann).inputValue();
      assert.notEqual(after, before);
      // A second press with the same piece takes it away.
      await cell(ann, seen.split(',')[0] ?? '').click();
      await sees(ann, `${seen.split(',')[0]}, empty`);
      assert.equal(await text(ann).inputValue(), before);
      // By keyboard, from the corner on.
      await ann.locator('[role=gridcell][tabindex="0"]').focus();
      await cell(ann, square).focus();
      await ann.keyboard.press('Enter');
      await sees(ann, seen);
      assert.equal(await text(ann).inputValue(), after);
      await cell(ann, seen.split(',')[0] ?? '').focus();
      await ann.keyboard.press('Delete');
      await sees(ann, `${seen.split(',')[0]}, empty`);
      await ann.keyboard.press('ArrowLeft');
      await ann.keyboard.press('ArrowLeft');
      const at = await ann.evaluate(() => document.activeElement?.getAttribute('data-square'));
      assert.ok(at !== null && at !== undefined);
      await press(ann, 'First position');
      await expectNoHorizontalOverflow(ann);
    }),
  );
}

/** How many squares there are. */
const cells = (page: Page) => page.getByRole('gridcell').count();

test(
  'a bot tells what it thinks of a position, and the question is no game',
  withServer(async (house) => {
    const ann = await house.openPage('/', { viewport: { width: 1280, height: 800 }, axe: true });
    await signUp(ann, 'Ann Smith');
    await ann.getByRole('link', { name: 'Or set up a position' }).click();
    for (const [game, pasted, best] of [
      ['Chess', '7k/5KR1/8/8/8/8/8/8 w - - 0 1', /^The bot would play: Rook g7 to \w\d\.$/],
      ['Connect Four', '......./......./......./r....../ry...../ry...y.', 'Column 1.'],
      [
        'Go',
        '........./..b...b../........./....w..../........./........./........./........./......... w 0 0 0 3',
        /\./,
      ],
    ] as const) {
      await setUp(ann, game);
      await text(ann).fill(pasted);
      await press(ann, 'What does the bot think?');
      await ann.locator('.opinion [role=status]', { hasText: best }).waitFor();
      await ann.locator('.drawn.advised').first().waitFor({ state: 'attached' });
      await expectAccessible(ann, 'an opinion');
      await takeScreenshot(ann, `opinion-${game}`);
    }
    const panel = ann.getByRole('region', { name: 'What the bot thinks' });
    await panel.getByText(/^depth \d+ · [\d,]+ playouts?$/).waitFor();
    await panel.getByText(/^Line: /).waitFor();
    // What is thought of another position is old.
    await cell(ann, 'A1').click();
    assert.equal(await panel.isVisible(), false);
    await ann.goto('/games');
    await ann.getByText('None of your games is over yet.').waitFor();
    assert.equal(await ann.getByRole('button', { name: /^Replay/ }).count(), 0);
    await ann.goto('/player/Ann%20Smith');
    await ann.getByText('0 games', { exact: true }).waitFor();
    assert.equal(await ann.locator('.rows li').count(), 0);
  }),
);

test(
  'where play cannot begin one is told why, before and after the server is asked',
  withServer(async (house) => {
    const ann = await house.openPage('/setup', { axe: true });
    for (const [game, pasted, why] of [
      ['Chess', '4k3/8/8/8/8/8/8/8 w - - 0 1', 'Each side needs one king.'],
      ['Chess', '4k3/8/8/8/8/8/8/P3K3 w - - 0 1', 'No pawn stands on the first or the last row.'],
      ['Chess', '4k3/8/8/8/8/8/4R3/4K3 w - - 0 1', /would have left their king in check/],
      ['Draughts', 'W:WK31:B', 'Both sides need pieces.'],
      [
        'Connect Four',
        '......./......./......./......./r....../.......',
        'A disc hangs in the air.',
      ],
      ['Tic-tac-toe', 'xx./.../...', 'Both put one down in turn: X has as many as O, or one more.'],
      ['Othello', `${'-'.repeat(64)} *`, 'The four squares in the middle are never empty.'],
    ] as const) {
      await setUp(ann, game);
      await text(ann).fill(pasted);
      await stands(ann, why);
      await press(ann, 'Play from here');
      const toast = ann.locator('#toast', { hasText: why });
      await toast.waitFor();
      // Of another position that is not said, and nothing lies over it.
      await press(ann, 'First position');
      await stands(ann, / is to move\.$/);
      assert.equal(await toast.count(), 0);
    }
    for (const [game, pasted, why] of [
      ['Chess', '7k/5KQ1/8/8/8/8/8/8 b - - 0 1', 'In this position the game is over.'],
      [
        'Go',
        '(;GM[1]SZ[9]AB[aa]AW[ab][ba]PL[B])',
        'Stones without a liberty would have been captured.',
      ],
      ['Tic-tac-toe', 'xxx/oo./...', 'In this position the game is over.'],
    ] as const) {
      await setUp(ann, game);
      await text(ann).fill(pasted);
      await stands(ann, /is to move\.$/);
      for (const asks of ['Play from here', 'What does the bot think?']) {
        await press(ann, asks);
        await ann.locator('#toast', { hasText: why }).waitFor();
        await stands(ann, why);
        // Another position is none that was refused.
        await text(ann).fill('?');
        await ann.getByRole('alert').filter({ hasText: /./ }).waitFor();
        assert.equal(await ann.locator('#toast', { hasText: /./ }).count(), 0);
        await text(ann).fill(pasted);
        await stands(ann, /is to move\.$/);
      }
      await press(ann, 'Play from here');
      await stands(ann, why);
      await expectAccessible(ann, 'a position that cannot be');
      // Nobody is left in a match.
      assert.equal(new URL(ann.url()).pathname, '/setup');
    }
  }),
);

test(
  'a board is mirrored, its sides are swapped, pieces are dragged, and castling goes with its rook',
  withServer(async (house) => {
    const ann = await house.openPage('/setup#game=chess', {
      viewport: { width: 1280, height: 800 },
    });
    await sees(ann, 'e1, white king');
    const rights = async () => (await text(ann).inputValue()).split(' ')[2];
    assert.equal(await rights(), 'KQkq');
    await cell(ann, 'h1').dragTo(cell(ann, 'h4'));
    await sees(ann, 'h4, white rook');
    await sees(ann, 'h1, empty');
    assert.equal(await rights(), 'Qkq');
    // Off the board it is taken away.
    await cell(ann, 'a8').hover();
    await ann.mouse.down();
    await ann.mouse.move(2, 300);
    await ann.mouse.up();
    await sees(ann, 'a8, empty');
    assert.equal(await rights(), 'Qk');
    await ann.getByRole('checkbox', { name: 'White, long' }).uncheck();
    assert.equal(await rights(), 'k');
    assert.ok(await ann.getByRole('checkbox', { name: 'White, short' }).isDisabled());
    await ann.getByRole('radio', { name: 'Black', exact: true }).check();
    await stands(ann, 'Black is to move.');
    await press(ann, 'Mirror');
    await sees(ann, 'a4, white rook');
    await press(ann, 'Swap sides');
    await sees(ann, 'a5, black rook');
    await stands(ann, 'White is to move.');
    await press(ann, 'Flip the board');
    const first = await ann.getByRole('gridcell').first().getAttribute('data-square');
    assert.equal(first, 'h1');
    await sees(ann, 'a5, black rook');
    // In draughts the dark squares stay dark.
    await setUp(ann, 'Draughts');
    await text(ann).fill('B:W18,K31:B5,K9');
    await press(ann, 'Swap sides');
    await sees(ann, '28, white man');
    await sees(ann, '15, black man');
    await cell(ann, 'out of play').first().click();
    assert.match(await text(ann).inputValue(), /^W:WK24,28:BK2,15:/);
  }),
);

test(
  'from a moment of a match that is over another position is set up, for a friend',
  withServer(async (house) => {
    const ann = await house.openPage();
    const bob = await house.openPage(await inviteFriend(ann, 'Tic-tac-toe'));
    await playMoves(ann, bob, 'a1 b1 a2');
    assert.equal(await ann.getByRole('link', { name: 'Set up from here' }).count(), 0);
    await barButton(ann, 'Resign …').click();
    await press(ann, 'Resign');
    await ann.locator('.room.ended').waitFor();
    await ann.keyboard.press('Escape');
    await ann.keyboard.press('ArrowLeft');
    await waitForStatus(ann, 'After 2 of 3 moves.');
    await ann.getByRole('link', { name: 'Set up from here' }).click();
    for (const words of ['a1, x', 'b1, o', 'a2, empty']) await sees(ann, words);
    await ann.getByRole('combobox', { name: 'Your side' }).selectOption('O');
    await press(ann, 'Invite a friend');
    const link = await ann.getByLabel('Link to this match').inputValue();
    await bob.goto(link);
    // Whoever comes has the side that is left, which moves first here.
    await waitForMyTurn(bob);
    await sees(bob, 'b1, o');
  }),
);

test(
  'of a record its position is read, and that its moves are not played is told',
  withServer(async (house) => {
    const ann = await house.openPage('/setup');
    await setUp(ann, 'Chess');
    const fen = '4k3/4p3/8/8/8/8/4P3/4K2R w K - 3 20';
    const told = ann.getByRole('alert');
    await text(ann).fill(
      `[Event "?"]\n[FEN "${fen}"]\n\n20. O-O {a remark} (20. e4 e5) 20... Kd7 21. e4 *`,
    );
    await sees(ann, 'h1, white rook');
    await told.filter({ hasText: '3 moves that the text tells, too, are not played.' }).waitFor();
    await text(ann).fill('[Event "?"]\n\n1. e4 e5 2. Nf3 1-0');
    await told.filter({ hasText: 'this record tells moves only' }).waitFor();
    await text(ann).fill('1. e4 e5');
    await told.filter({ hasText: 'this record tells moves only' }).waitFor();
    // What the server is sent is whole, however little was written.
    await text(ann).fill('4k3/4p3/8/8/8/8/4P3/4K2R w');
    const sent = () =>
      ann.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('position'));
    assert.equal(await sent(), '4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 1');
    // A number of a move that has been played is none of the position that one makes of it.
    await text(ann).fill('4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 65535');
    await sees(ann, 'h1, white rook');
    await cell(ann, 'h1').dragTo(cell(ann, 'h4'));
    await sees(ann, 'h4, white rook');
    assert.equal(await sent(), '4k3/4p3/8/8/7R/8/4P3/4K3 w - - 0 1');
    // Other programs count further.
    await text(ann).fill('4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 65536');
    await sees(ann, 'h1, white rook');
    assert.equal(await sent(), '4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 65535');
    await text(ann).fill('4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 many');
    await told.filter({ hasText: '“many” stands where a number belongs.' }).waitFor();
    await setUp(ann, 'Draughts');
    await text(ann).fill('[FEN "W:W18,K31:B5,K9."]\n1. 18-14 9-18 *');
    await sees(ann, '31, white king');
    await told.filter({ hasText: '2 moves that the text tells, too, are not played.' }).waitFor();
    await press(ann, 'Play from here');
    await waitForMyTurn(ann);
  }),
);

test(
  'texts of other programs are read, and the page says that their moves are not played',
  withServer(async (house) => {
    const fen = '4k3/4p3/8/8/8/8/4P3/4K2R w K - 3 20';
    const told = (page: Page) => page.getByRole('alert');
    const link = new URLSearchParams({ game: 'chess', position: `${fen} moves e1g1 e8d7` });
    const ann = await house.openPage(`/setup#${link}`, { axe: true });
    await sees(ann, 'h1, white rook');
    const two = '2 moves that the text tells, too, are not played.';
    await told(ann).filter({ hasText: two }).waitFor();
    assert.equal(await text(ann).inputValue(), fen);
    await text(ann).fill('position startpos moves e2e4 e7e5 g1f3');
    await sees(ann, 'e2, white pawn');
    await told(ann).filter({ hasText: '3 moves that' }).waitFor();
    await text(ann).fill(`[Event "A"]\n\n1. e4 e5 *\n\n[Event "B"]\n[FEN "${fen}"]\n\n20. O-O *`);
    await told(ann).filter({ hasText: 'this record tells moves only' }).waitFor();
    await sees(ann, 'a1, white rook');
    await setUp(ann, 'Go');
    await text(ann).fill('(;GM[1]FF[4]SZ[9]KM[7];AB[cc][gg]AW[cg];AE[gg]PL[W];W[ee];B[dd]');
    for (const words of ['C7, black', 'C3, white', 'G3, empty', 'E5, empty'])
      await sees(ann, words);
    await told(ann).filter({ hasText: two }).waitFor();
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'moves that are not played');
    await takeScreenshot(ann, 'setup-unplayed');
    await press(ann, 'Play from here');
    await waitForMyTurn(ann);
    await sees(ann, 'C7, black');
  }),
);
