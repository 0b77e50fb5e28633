// Tests the position editor: input by text, mouse and keyboard, matches from a position, and the
// opinion of a bot.

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
 * Texts to paste: a valid position with its squares and the side to move, and an invalid text with
 * its error.
 */
const TEXTS = [
  {
    game: 'Chess',
    text: '4k3/4p3/8/8/8/8/4P3/4K2R w K - 3 20',
    squares: ['h1, white rook', 'e7, black pawn', 'a1, empty'],
    turn: 'White',
    invalid: '4k3/4p3/8/8/8/8/4P3/4K2 w K - 3 20',
    error: 'Row 8 from the top has 7 squares in place of 8.',
  },
  {
    game: 'Chess',
    text: '4k3/4p3/8/8/8/8/4P3/4K2R w K - bm O-O; fmvn 20; hmvc 3; id "castles";',
    squares: ['h1, white rook', 'e7, black pawn', 'a1, empty'],
    turn: 'White',
    invalid: '4k3/4p3/8/8/8/8/4P3/4K2R w K - e2e4',
    error: '“e2e4” stands where a number belongs.',
  },
  {
    game: 'Draughts',
    text: '[FEN "W:W18,K31:B5,K9."]',
    squares: ['18, white man', '31, white king', '9, black king'],
    turn: 'White',
    invalid: 'W:W18,K33:B5',
    error: '“K33” is no square: these are numbers from 1 to 32.',
  },
  {
    game: 'Connect Four',
    text: '......./......./......./......./...y.../..rry.r',
    squares: ['d2, yellow', 'c1, red'],
    turn: 'Yellow',
    invalid: '......./......./......./......./..rry.r',
    error: '6 rows are needed, with / between them; here there are 5.',
  },
  {
    game: 'Tic-tac-toe',
    text: 'x.o/.x./...',
    squares: ['a3, x', 'c3, o', 'b2, x'],
    turn: 'O',
    invalid: 'x.o/.z./...',
    error: '“z” is no piece here.',
  },
  {
    game: 'Othello',
    text: '(;GM[2]SZ[8]AB[dc][dd][ed][de]AW[ee]PL[W])',
    squares: ['d3, black', 'e5, white', 'a1, empty'],
    turn: 'White',
    invalid: '---*O---',
    error: '64 squares and whose turn it is are 65 characters; here there are 8.',
  },
  {
    game: 'Othello',
    text: `${'.'.repeat(19)}X${'.'.repeat(7)}XX${'.'.repeat(6)}X0${'.'.repeat(27)} 0; C5:+1; % a board file`,
    squares: ['d3, black', 'e5, white', 'a1, empty'],
    turn: 'White',
    invalid: `${'.'.repeat(64)} ?`,
    error: '“?” is no piece here.',
  },
  {
    game: 'Go',
    text: '(;GM[1]FF[4]SZ[9]AB[cc][gg][cg][gc]PL[W])',
    squares: ['C7, black', 'G3, black', 'E5, empty'],
    turn: 'White',
    invalid: '(;GM[1]SZ[19]AB[dd])',
    error: 'This board has 19 lines in place of 9.',
  },
  {
    game: 'Gomoku',
    text: '15/15/15/15/15/15/15/6wbb6/15/15/15/15/15/15/15',
    squares: ['g8, white', 'h8, black'],
    turn: 'White',
    invalid: '(;GM[4]SZ[15];B[hh];W[hg])',
    error: 'This SGF tells moves, and sets nothing up (AB, AW).',
  },
];

/** A piece to place on a square of each game, and the name of the square that it occupies then. */
const PIECES = {
  Chess: { piece: 'white queen', square: 'd4', result: 'd4, white queen' },
  // A man on the last row becomes a king.
  Draughts: { piece: 'black man', square: '31', result: '31, black king' },
  // The disc falls down.
  'Connect Four': { piece: 'red', square: 'c5', result: 'c1, red' },
  'Tic-tac-toe': { piece: 'x', square: 'c1', result: 'c1, x' },
  Othello: { piece: 'white', square: 'c3', result: 'c3, white' },
  Go: { piece: 'white', square: 'E5', result: 'E5, white' },
  Gomoku: { piece: 'black', square: 'h8', result: 'h8, black' },
};

const waitForSquare = (page: Page, name: string) =>
  page.getByRole('gridcell', { name, exact: true }).waitFor();

async function chooseGame(page: Page, game: string) {
  await page.getByRole('combobox', { name: 'Game', exact: true }).selectOption(game);
  await page.getByRole('grid', { name: `Board of ${game}` }).waitFor();
}

const positionField = (page: Page) => page.getByLabel('Position as text');
const clickButton = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).click();
const waitForPositionStatus = (page: Page, text: string | RegExp) =>
  page.locator('.stands', { hasText: text }).waitFor();

/** Games that are tested without `ALL=1`. */
const USUAL_GAMES = ['Chess', 'Draughts', 'Connect Four', 'Go'];

for (const { game, text, squares, turn, invalid, error } of TEXTS) {
  if (!ALL_VARIANTS && !USUAL_GAMES.includes(game)) continue;
  test(
    `a pasted position is shown and played from: ${game}`,
    withServer(async (harness) => {
      const phone = { width: 390, height: 844 };
      const ann = await harness.openPage('/setup', { viewport: phone, axe: true });
      await chooseGame(ann, game);
      await positionField(ann).fill(invalid);
      await ann.getByRole('alert').filter({ hasText: error }).waitFor();
      await expectAccessible(ann, 'an invalid text');
      // The button shows the error as well.
      await clickButton(ann, 'Play from here');
      await ann.locator('#toast', { hasText: error }).waitFor();
      await positionField(ann).fill(text);
      for (const square of squares) await waitForSquare(ann, square);
      await waitForPositionStatus(ann, `${turn} is to move.`);
      assert.equal(await ann.getByRole('alert').filter({ hasText: /./ }).count(), 0);
      await expectNoHorizontalOverflow(ann);
      await expectAccessible(ann, 'a position');
      await takeScreenshot(ann, `setup-${game}`);
      // The URL contains the position.
      await ann.reload();
      for (const square of squares) await waitForSquare(ann, square);
      const written = await positionField(ann).inputValue();
      assert.match(written, /^(\(;GM|[^(]*$)/);
      if (game === 'Chess') assert.match(written, /K - 3 20$/);
      await clickButton(ann, 'Play from here');
      await waitForMyTurn(ann);
      for (const square of squares) await waitForSquare(ann, square);
    }),
  );
}

for (const [game, { piece, square, result }] of selectVariants(
  Object.entries(PIECES),
  ...USUAL_GAMES,
)) {
  test(
    `a position is set up by mouse and by keyboard: ${game}`,
    withServer(async (harness) => {
      const ann = await harness.openPage('/setup', { viewport: { width: 844, height: 390 } });
      await chooseGame(ann, game);
      await clickButton(ann, 'Empty board');
      assert.equal(
        await ann.getByRole('gridcell', { name: /, empty$/ }).count(),
        await countSquares(ann),
      );
      const before = await positionField(ann).inputValue();
      await ann.getByRole('radio', { name: piece, exact: true }).first().check();
      await cell(ann, square).click();
      await waitForSquare(ann, result);
      const after = await positionField(ann).inputValue();
      assert.notEqual(after, before);
      // A second click with the same piece removes it.
      await cell(ann, result.split(',')[0] ?? '').click();
      await waitForSquare(ann, `${result.split(',')[0]}, empty`);
      assert.equal(await positionField(ann).inputValue(), before);
      // The keyboard does the same.
      await ann.locator('[role=gridcell][tabindex="0"]').focus();
      await cell(ann, square).focus();
      await ann.keyboard.press('Enter');
      await waitForSquare(ann, result);
      assert.equal(await positionField(ann).inputValue(), after);
      await cell(ann, result.split(',')[0] ?? '').focus();
      await ann.keyboard.press('Delete');
      await waitForSquare(ann, `${result.split(',')[0]}, empty`);
      await ann.keyboard.press('ArrowLeft');
      await ann.keyboard.press('ArrowLeft');
      const focused = await ann.evaluate(() => document.activeElement?.getAttribute('data-square'));
      assert.ok(focused !== null && focused !== undefined);
      await clickButton(ann, 'First position');
      await expectNoHorizontalOverflow(ann);
    }),
  );
}

const countSquares = (page: Page) => page.getByRole('gridcell').count();

test(
  'a bot evaluates a position without creating a match',
  withServer(async (harness) => {
    const ann = await harness.openPage('/', { viewport: { width: 1280, height: 800 }, axe: true });
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
      await chooseGame(ann, game);
      await positionField(ann).fill(pasted);
      await clickButton(ann, 'What does the bot think?');
      await ann.locator('.opinion [role=status]', { hasText: best }).waitFor();
      await ann.locator('.drawn.advised').first().waitFor({ state: 'attached' });
      await expectAccessible(ann, 'an opinion');
      await takeScreenshot(ann, `opinion-${game}`);
    }
    const panel = ann.getByRole('region', { name: 'What the bot thinks' });
    await panel.getByText(/^depth \d+ · [\d,]+ playouts?$/).waitFor();
    await panel.getByText(/^Line: /).waitFor();
    // A change of the position hides the opinion.
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
  'invalid positions show the error of the page or of the server',
  withServer(async (harness) => {
    const ann = await harness.openPage('/setup', { axe: true });
    for (const [game, pasted, error] of [
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
      await chooseGame(ann, game);
      await positionField(ann).fill(pasted);
      await waitForPositionStatus(ann, error);
      await clickButton(ann, 'Play from here');
      const toast = ann.locator('#toast', { hasText: error });
      await toast.waitFor();
      // Another position hides the error and the toast.
      await clickButton(ann, 'First position');
      await waitForPositionStatus(ann, / is to move\.$/);
      assert.equal(await toast.count(), 0);
    }
    for (const [game, pasted, error] of [
      ['Chess', '7k/5KQ1/8/8/8/8/8/8 b - - 0 1', 'In this position the game is over.'],
      [
        'Go',
        '(;GM[1]SZ[9]AB[aa]AW[ab][ba]PL[B])',
        'Stones without a liberty would have been captured.',
      ],
      ['Tic-tac-toe', 'xxx/oo./...', 'In this position the game is over.'],
    ] as const) {
      await chooseGame(ann, game);
      await positionField(ann).fill(pasted);
      await waitForPositionStatus(ann, /is to move\.$/);
      for (const button of ['Play from here', 'What does the bot think?']) {
        await clickButton(ann, button);
        await ann.locator('#toast', { hasText: error }).waitFor();
        await waitForPositionStatus(ann, error);
        // Another position hides the server's error.
        await positionField(ann).fill('?');
        await ann.getByRole('alert').filter({ hasText: /./ }).waitFor();
        assert.equal(await ann.locator('#toast', { hasText: /./ }).count(), 0);
        await positionField(ann).fill(pasted);
        await waitForPositionStatus(ann, /is to move\.$/);
      }
      await clickButton(ann, 'Play from here');
      await waitForPositionStatus(ann, error);
      await expectAccessible(ann, 'a rejected position');
      // No match begins.
      assert.equal(new URL(ann.url()).pathname, '/setup');
    }
  }),
);

test(
  'the board can be mirrored, flipped and swapped, and castling rights follow dragged pieces',
  withServer(async (harness) => {
    const ann = await harness.openPage('/setup#game=chess', {
      viewport: { width: 1280, height: 800 },
    });
    await waitForSquare(ann, 'e1, white king');
    const readCastlingRights = async () => (await positionField(ann).inputValue()).split(' ')[2];
    assert.equal(await readCastlingRights(), 'KQkq');
    await cell(ann, 'h1').dragTo(cell(ann, 'h4'));
    await waitForSquare(ann, 'h4, white rook');
    await waitForSquare(ann, 'h1, empty');
    assert.equal(await readCastlingRights(), 'Qkq');
    // Dragging a piece off the board removes it.
    await cell(ann, 'a8').hover();
    await ann.mouse.down();
    await ann.mouse.move(2, 300);
    await ann.mouse.up();
    await waitForSquare(ann, 'a8, empty');
    assert.equal(await readCastlingRights(), 'Qk');
    await ann.getByRole('checkbox', { name: 'White, long' }).uncheck();
    assert.equal(await readCastlingRights(), 'k');
    assert.ok(await ann.getByRole('checkbox', { name: 'White, short' }).isDisabled());
    await ann.getByRole('radio', { name: 'Black', exact: true }).check();
    await waitForPositionStatus(ann, 'Black is to move.');
    await clickButton(ann, 'Mirror');
    await waitForSquare(ann, 'a4, white rook');
    await clickButton(ann, 'Swap sides');
    await waitForSquare(ann, 'a5, black rook');
    await waitForPositionStatus(ann, 'White is to move.');
    await clickButton(ann, 'Flip the board');
    const first = await ann.getByRole('gridcell').first().getAttribute('data-square');
    assert.equal(first, 'h1');
    await waitForSquare(ann, 'a5, black rook');
    // In draughts swapped pieces stay on dark squares.
    await chooseGame(ann, 'Draughts');
    await positionField(ann).fill('B:W18,K31:B5,K9');
    await clickButton(ann, 'Swap sides');
    await waitForSquare(ann, '28, white man');
    await waitForSquare(ann, '15, black man');
    await cell(ann, 'out of play').first().click();
    assert.match(await positionField(ann).inputValue(), /^W:WK24,28:BK2,15:/);
  }),
);

test(
  'a position of a finished match can be set up and played with a friend',
  withServer(async (harness) => {
    const ann = await harness.openPage();
    const bob = await harness.openPage(await inviteFriend(ann, 'Tic-tac-toe'));
    await playMoves(ann, bob, 'a1 b1 a2');
    assert.equal(await ann.getByRole('link', { name: 'Set up from here' }).count(), 0);
    await barButton(ann, 'Resign …').click();
    await clickButton(ann, 'Resign');
    await ann.locator('.room.ended').waitFor();
    await ann.keyboard.press('Escape');
    await ann.keyboard.press('ArrowLeft');
    await waitForStatus(ann, 'After 2 of 3 moves.');
    await ann.getByRole('link', { name: 'Set up from here' }).click();
    for (const square of ['a1, x', 'b1, o', 'a2, empty']) await waitForSquare(ann, square);
    await ann.getByRole('combobox', { name: 'Your side' }).selectOption('O');
    await clickButton(ann, 'Invite a friend');
    const link = await ann.getByLabel('Link to this match').inputValue();
    await bob.goto(link);
    // The friend gets the other side, which moves first here.
    await waitForMyTurn(bob);
    await waitForSquare(bob, 'b1, o');
  }),
);

test(
  'the position of a game record is read, and a message says that its moves are not played',
  withServer(async (harness) => {
    const ann = await harness.openPage('/setup');
    await chooseGame(ann, 'Chess');
    const fen = '4k3/4p3/8/8/8/8/4P3/4K2R w K - 3 20';
    const alert = ann.getByRole('alert');
    await positionField(ann).fill(
      `[Event "?"]\n[FEN "${fen}"]\n\n20. O-O {a remark} (20. e4 e5) 20... Kd7 21. e4 *`,
    );
    await waitForSquare(ann, 'h1, white rook');
    await alert.filter({ hasText: '3 moves that the text tells, too, are not played.' }).waitFor();
    await positionField(ann).fill('[Event "?"]\n\n1. e4 e5 2. Nf3 1-0');
    await alert.filter({ hasText: 'this record tells moves only' }).waitFor();
    await positionField(ann).fill('1. e4 e5');
    await alert.filter({ hasText: 'this record tells moves only' }).waitFor();
    // The page completes a shortened FEN for the server.
    await positionField(ann).fill('4k3/4p3/8/8/8/8/4P3/4K2R w');
    const readUrlPosition = () =>
      ann.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('position'));
    assert.equal(await readUrlPosition(), '4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 1');
    // Editing the position resets the move number.
    await positionField(ann).fill('4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 65535');
    await waitForSquare(ann, 'h1, white rook');
    await cell(ann, 'h1').dragTo(cell(ann, 'h4'));
    await waitForSquare(ann, 'h4, white rook');
    assert.equal(await readUrlPosition(), '4k3/4p3/8/8/7R/8/4P3/4K3 w - - 0 1');
    // Larger move numbers of other programs are capped.
    await positionField(ann).fill('4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 65536');
    await waitForSquare(ann, 'h1, white rook');
    assert.equal(await readUrlPosition(), '4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 65535');
    await positionField(ann).fill('4k3/4p3/8/8/8/8/4P3/4K2R w - - 0 many');
    await alert.filter({ hasText: '“many” stands where a number belongs.' }).waitFor();
    await chooseGame(ann, 'Draughts');
    await positionField(ann).fill('[FEN "W:W18,K31:B5,K9."]\n1. 18-14 9-18 *');
    await waitForSquare(ann, '31, white king');
    await alert.filter({ hasText: '2 moves that the text tells, too, are not played.' }).waitFor();
    await clickButton(ann, 'Play from here');
    await waitForMyTurn(ann);
  }),
);

test(
  'positions of other programs are read, and a message says that their moves are not played',
  withServer(async (harness) => {
    const fen = '4k3/4p3/8/8/8/8/4P3/4K2R w K - 3 20';
    const alert = (page: Page) => page.getByRole('alert');
    const link = new URLSearchParams({ game: 'chess', position: `${fen} moves e1g1 e8d7` });
    const ann = await harness.openPage(`/setup#${link}`, { axe: true });
    await waitForSquare(ann, 'h1, white rook');
    const message = '2 moves that the text tells, too, are not played.';
    await alert(ann).filter({ hasText: message }).waitFor();
    assert.equal(await positionField(ann).inputValue(), fen);
    await positionField(ann).fill('position startpos moves e2e4 e7e5 g1f3');
    await waitForSquare(ann, 'e2, white pawn');
    await alert(ann).filter({ hasText: '3 moves that' }).waitFor();
    await positionField(ann).fill(
      `[Event "A"]\n\n1. e4 e5 *\n\n[Event "B"]\n[FEN "${fen}"]\n\n20. O-O *`,
    );
    await alert(ann).filter({ hasText: 'this record tells moves only' }).waitFor();
    await waitForSquare(ann, 'a1, white rook');
    await chooseGame(ann, 'Go');
    await positionField(ann).fill(
      '(;GM[1]FF[4]SZ[9]KM[7];AB[cc][gg]AW[cg];AE[gg]PL[W];W[ee];B[dd]',
    );
    for (const square of ['C7, black', 'C3, white', 'G3, empty', 'E5, empty'])
      await waitForSquare(ann, square);
    await alert(ann).filter({ hasText: message }).waitFor();
    await expectNoHorizontalOverflow(ann);
    await expectAccessible(ann, 'moves that are not played');
    await takeScreenshot(ann, 'setup-unplayed');
    await clickButton(ann, 'Play from here');
    await waitForMyTurn(ann);
    await waitForSquare(ann, 'C7, black');
  }),
);
