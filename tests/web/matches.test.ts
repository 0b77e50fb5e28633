// Whole matches on the page: against a bot, against each other, watched, and looked back on.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  cell,
  inBar,
  invite,
  isOver,
  legal,
  moves,
  myTurn,
  openToAll,
  play,
  playAll,
  playBot,
  says,
  titled,
  together,
  playing,
} from './players.ts';
import { closeBrowser, eventually, inHouse, picture } from './support.ts';

after(closeBrowser);

test(
  'a match against a bot by mouse',
  inHouse(async (house) => {
    const page = await house.visitor();
    await picture(page, 'lobby');
    // Two clicks at most: these are they.
    await page.getByRole('radio', { name: 'Tic-tac-toe' }).check();
    await page.getByRole('button', { name: 'Play the easy bot' }).click();
    await myTurn(page);
    await page.locator('.heading', { hasText: 'casual' }).waitFor();
    await titled(page, /Your turn/);
    while (!(await isOver(page))) {
      const [square = ''] = await legal(page);
      await play(page, square);
    }
    assert.match(await page.locator('.standing').innerText(), /^(You win!|You lose\.|A draw\.)$/);
    await picture(page, 'ended');
    const count = await moves(page);
    await page.keyboard.press('ArrowLeft');
    await says(page, `After ${count - 1} of ${count} moves.`);
    // Again, with sides swapped: the bot begins.
    await page.getByRole('button', { name: 'Rematch, sides swapped' }).click();
    await page.locator('.player', { hasText: 'O · you' }).waitFor();
    await myTurn(page);
    assert.equal(await moves(page), 1);
  }),
);

test(
  'a match against a bot by keyboard',
  inHouse(async (house) => {
    const page = await house.visitor();
    await page.getByRole('radio', { name: 'Connect Four' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play the easy bot' }).focus();
    await page.keyboard.press('Enter');
    await myTurn(page);
    // The board has the focus. A number is a column, and Enter drops a disc where the focus is.
    await page.locator('.cells :focus').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.locator('[data-square=c4]:focus').waitFor();
    await picture(page, 'connect-four');
    await page.keyboard.press('Enter');
    await cell(page, 'c1').and(page.getByLabel(/red/)).waitFor();
    await page.locator('#heard', { hasText: 'You play column 3.' }).waitFor({ state: 'attached' });
    while (!(await isOver(page))) {
      const [square = 'a1'] = await legal(page);
      await playing(page, () => page.keyboard.press(String(square.charCodeAt(0) - 96)));
    }
    assert.match(await page.locator('.standing').innerText(), /^(You win!|You lose\.|A draw\.)$/);
  }),
);

test(
  'the number pad plays tic-tac-toe',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann));
    await myTurn(ann);
    // Not with the focus on a button.
    await ann.getByRole('button', { name: 'Resign …' }).focus();
    await ann.keyboard.press('1');
    await cell(ann, 'b2').focus();
    await ann.keyboard.press('7');
    await bob.getByRole('gridcell', { name: 'a3, x, last move' }).waitFor();
    assert.equal(await moves(bob), 1);
    // Without NumLock its keys have other names, which elsewhere move the focus or look back.
    for (const [who, code, key, square] of [
      [bob, 'Numpad4', 'ArrowLeft', 'a2'],
      [ann, 'Numpad3', 'PageDown', 'c1'],
      [bob, 'Numpad1', 'End', 'a1'],
    ] as const) {
      await myTurn(who);
      await who.evaluate(
        (names) =>
          document.activeElement?.dispatchEvent(
            new KeyboardEvent('keydown', { ...names, bubbles: true }),
          ),
        { code, key },
      );
      await cell(who, square).and(who.getByLabel('last move')).waitFor();
    }
  }),
);

test(
  'two play by link, and a third watches',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const link = await invite(ann);
    await picture(ann, 'invitation');
    const bob = await house.visitor(link);
    await myTurn(ann);
    const eve = await house.visitor(link);
    await eve.getByText('You are watching.').waitFor();
    await ann.getByText('1 watching').waitFor();
    // Nobody beside her.
    assert.equal(await eve.locator('.watching').innerText(), '');
    for (const [who, square] of [
      [ann, 'a1'],
      [bob, 'b1'],
      [ann, 'a2'],
      [bob, 'b2'],
    ] as const) {
      await play(who, square);
    }
    await eve.getByRole('gridcell', { name: 'b2, o, last move' }).waitFor();
    assert.deepEqual(await legal(eve), []);
    assert.deepEqual(await legal(bob), []);
    await play(ann, 'a3');
    await says(ann, 'You win!');
    await says(bob, 'You lose.');
    await says(eve, 'wins.');
    await bob.getByText('The line is a1, a2, a3.', { exact: true }).waitFor();
    await bob.getByRole('gridcell', { name: 'a3, x, last move, winning line' }).waitFor();
    await picture(eve, 'watched');

    // Once more: the other is asked, and both go on at the same address.
    await inBar(ann, 'Rematch').click();
    await ann
      .getByText(/^Waiting for guest-\w+ to accept\.$/)
      .first()
      .waitFor();
    await bob
      .getByText(/^guest-\w+ wants to play again, sides swapped\.$/)
      .first()
      .waitFor();
    await titled(bob, /^● guest-\w+ wants to play again/);
    await picture(bob, 'rematch');
    await bob.getByRole('button', { name: 'Decline' }).click();
    await ann.locator('#toast', { hasText: 'does not want to play again.' }).waitFor();
    await inBar(bob, 'Rematch').click();
    await ann.getByRole('button', { name: 'Accept' }).waitFor();
    await ann.keyboard.press('y');
    await bob.locator('.player', { hasText: 'X · you' }).waitFor();
    await myTurn(bob);
    await together(ann, bob);
    await says(ann, 'is to move.');
    assert.equal(await moves(ann), 0);
    // The score of the series: who sits first now has lost the first match.
    assert.deepEqual(await ann.locator('.points').allInnerTexts(), ['0', '1']);
    await picture(bob, 'series');
    await eve.getByRole('link', { name: 'Watch their next match' }).click();
    await eve.getByText('You are watching.').waitFor();
    await play(bob, 'b2');
    await eve.getByRole('gridcell', { name: 'b2, x, last move' }).waitFor();
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Cancel the match' }).click();
    await says(ann, 'No result.');
    assert.deepEqual(await ann.locator('.points').allInnerTexts(), ['0', '1']);
  }),
);

test(
  'whoever has left after the end is not waited for',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann));
    await play(ann, 'b2');
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await ann.getByRole('button', { name: 'Rematch, sides swapped' }).waitFor();
    await bob.close();
    const left = ann.locator('.player', { hasText: 'has left' }).locator('.away');
    await left.waitFor();
    // It is parted from what stands before it, which has no room on a phone.
    const before = () => left.evaluate((one) => getComputedStyle(one, '::before').content);
    const size = ann.viewportSize();
    assert.equal(await before(), '"· "');
    await ann.setViewportSize({ width: 390, height: 844 });
    assert.equal(await before(), 'none');
    assert.equal(await left.innerText(), 'has left');
    if (size) await ann.setViewportSize(size);
    await picture(ann, 'left');
    await ann.getByRole('button', { name: 'Challenge them, sides swapped' }).click();
    await says(ann, /^Waiting for guest-\w+ to accept\.$/);
  }),
);

test(
  'both ask to play again in the same instant',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann));
    await play(ann, 'b2');
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await Promise.all([ann, bob].map((page) => inBar(page, 'Rematch').click()));
    await myTurn(bob);
    await together(ann, bob);
  }),
);

test(
  'one steps back through the moves',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann));
    await play(ann, 'b2');
    await play(bob, 'a1');
    await play(ann, 'c3');
    // A page that has only just come knows the past, too.
    const eve = await house.visitor(new URL(ann.url()).pathname);
    await eve.getByText('You are watching.').waitFor();
    await eve.locator('.moves button').nth(2).waitFor();
    await eve.keyboard.press('ArrowLeft');
    await says(eve, 'After 2 of 3 moves.');
    await eve.getByRole('gridcell', { name: 'c3, empty' }).waitFor();
    await picture(eve, 'looking-back');
    await play(bob, 'a3');
    await says(eve, 'After 2 of 4 moves.');
    await eve.keyboard.press('Home');
    await eve.getByRole('gridcell', { name: 'b2, empty' }).waitFor();
    await eve.getByRole('button', { name: 'Back to now' }).click();
    await eve.getByRole('gridcell', { name: 'a3, o, last move' }).waitFor();
  }),
);

test(
  'a move that is listed stays, with the focus on it, and goes when it is taken back',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const bob = await house.visitor(await invite(ann, 'Connect Four'));
    const listed = (...rounds: string[]) =>
      eventually(async () =>
        assert.deepEqual(await ann.locator('.moves li').allTextContents(), rounds),
      );
    await playAll(ann, bob, 'd1 c1 e1');
    const first = ann.getByRole('button', { name: 'Move 1, Red: 4', exact: true });
    await first.focus();
    await play(bob, 'c2');
    await listed('43', '53');
    assert.ok(await first.evaluate((button) => button === document.activeElement));
    await inBar(bob, 'Take back').click();
    await ann.getByRole('button', { name: 'Accept' }).click();
    await listed('43', '5');
    await play(bob, 'b1');
    await listed('43', '52');
  }),
);

test(
  'from a move of ours that is under way one steps back one move',
  inHouse(async (house) => {
    const page = await house.visitor('about:blank');
    const held = await holdAnswers(page);
    await page.goto('/');
    await playBot(page, { game: 'Connect Four', side: 'Red' });
    await play(page, 'd1');
    await myTurn(page);
    // Where the bot has not put its disc.
    const isTaken = (await cell(page, 'a1').and(page.getByLabel('empty')).count()) === 0;
    const square = isTaken ? 'b1' : 'a1';
    held.begins();
    await cell(page, square).click();
    await says(page, 'Playing …');
    await page.keyboard.press('ArrowLeft');
    await says(page, 'After 2 of 3 moves.');
    await cell(page, square).and(page.getByLabel('empty')).waitFor();
    await page.keyboard.press('ArrowLeft');
    await says(page, 'After 1 of 3 moves.');
    await page.getByRole('button', { name: 'One move forth' }).click();
    await says(page, 'After 2 of 3 moves.');
    await page.getByRole('button', { name: 'One move forth' }).click();
    await says(page, 'Playing …');
    await cell(page, square).and(page.getByLabel(/red/)).waitFor();
    await page.getByRole('button', { name: 'One move back' }).click();
    await says(page, 'After 2 of 3 moves.');
    // What is answered meanwhile takes nobody along.
    held.ends();
    await says(page, /^After 2 of [34] moves\.$/);
    await page.getByRole('button', { name: 'To now', exact: true }).click();
    await myTurn(page);
  }),
);

/** Lets a page wait for what the server says, between these. */
async function holdAnswers(page: import('./support.ts').Page) {
  let held: (() => void)[] | null = null;
  await page.routeWebSocket('**/ws', (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      if (held) held.push(() => socket.send(text));
      else socket.send(text);
    });
  });
  return {
    begins: () => (held = []),
    ends: () => {
      for (const send of held ?? []) send();
      held = null;
    },
  };
}

test(
  'resigning takes one confirmation',
  inHouse(async (house) => {
    const page = await house.visitor();
    await playBot(page, { game: 'Connect Four', side: 'Yellow' });
    await page.getByRole('button', { name: 'Resign …' }).click();
    await page.getByRole('button', { name: 'Play on' }).click();
    await page.getByRole('button', { name: 'Resign …' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Resign …' }).click();
    await page.getByRole('button', { name: 'Resign', exact: true }).click();
    await says(page, 'You lose.');
    await page.getByText('You resigned.', { exact: true }).waitFor();
  }),
);

test(
  'who looks for an opponent finds one, or a bot',
  inHouse(async (house) => {
    // Both are there before the search begins, which a bot ends after 20 seconds.
    const [ann, bob] = [await house.visitor(), await house.visitor()];
    await ann.getByRole('button', { name: 'Find an opponent' }).click();
    await ann.getByText('the easy bot sits down in').waitFor();
    await picture(ann, 'seeking');
    await bob.getByRole('button', { name: 'Find an opponent' }).click();
    for (const page of [ann, bob]) await page.getByRole('grid').waitFor();
    await together(ann, bob);
  }),
);

test(
  'two bots are watched, and found in the lobby',
  inHouse(async (house) => {
    const ann = await house.visitor();
    // A game that is not over before one looks.
    await ann.getByRole('radio', { name: 'Chess', exact: true }).check();
    await ann.getByText('Or watch two bots').click();
    await ann.getByLabel('Pace').selectOption('Slow');
    await ann.getByRole('button', { name: 'Watch them' }).click();
    await ann.getByText('You are watching.').waitFor();
    const bob = await house.visitor();
    await bob.getByRole('button', { name: /^Watch: / }).click();
    await bob.getByText('You are watching.').waitFor();
    await together(ann, bob);
  }),
);

test(
  'the lobby leads to open matches and back to ours',
  inHouse(async (house) => {
    const ann = await house.visitor();
    await openToAll(ann);
    const bob = await house.visitor();
    await bob.getByRole('button', { name: /^Join: / }).click();
    await ann.locator('.standing', { hasText: 'Your turn.' }).waitFor();
    await bob.getByRole('link', { name: 'Plyhouse' }).click();
    await bob.getByRole('button', { name: /^Go on: / }).click();
    await bob.getByText('O · you').waitFor();
  }),
);

test(
  'what happens in a match out of sight is told, with a way there',
  inHouse(async (house) => {
    const ann = await house.visitor();
    const toast = ann.locator('#toast');
    const link = await invite(ann);
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await ann.getByRole('button', { name: /^Play the/ }).waitFor();
    const bob = await house.visitor(link);
    await toast.filter({ hasText: /^Tic-tac-toe against guest-\w+ begins: Your turn\./ }).waitFor();
    await titled(ann, '● Your turn – Plyhouse');
    await picture(ann, 'news');
    await toast.getByRole('link', { name: 'Go there' }).click();
    await play(ann, 'b2');
    await toast.filter({ hasText: /^$/ }).waitFor({ state: 'attached' });

    // From another match, in which one waits.
    await ann.getByRole('link', { name: 'Plyhouse' }).click();
    await invite(ann, 'Chess');
    await play(bob, 'a1');
    await toast.filter({ hasText: /^Tic-tac-toe against guest-\w+: Your turn\./ }).waitFor();
    await titled(ann, /^● Your turn elsewhere – Waiting for an opponent\. – Chess/);
    await bob.getByRole('button', { name: 'Resign …' }).click();
    await bob.getByRole('button', { name: 'Resign', exact: true }).click();
    await toast.filter({ hasText: /You win! guest-\w+ resigned\./ }).waitFor();
    await titled(ann, /^Waiting for an opponent\./);
  }),
);

test(
  'whoever has too many matches open is told which, and calls one off',
  inHouse(
    async (house) => {
      const ann = await house.visitor();
      const lobby = () => ann.getByRole('link', { name: 'Plyhouse' }).click();
      const mine = ann.getByRole('button', { name: /^Open: / });
      for (let count = 0; count < 7; count++) {
        await invite(ann);
        await lobby();
      }
      await mine.nth(4).waitFor();
      assert.equal(await mine.count(), 5);
      await ann.getByRole('button', { name: 'Invite a friend' }).click();
      await ann
        .locator('#toast', {
          hasText:
            /^You have 7 matches open, .*: (Tic-tac-toe \w{6}, ){2}Tic-tac-toe \w{6} and 4 more\./,
        })
        .waitFor();
      await picture(ann, 'too-many');
      await ann.getByRole('button', { name: 'and 2 more' }).click();
      assert.equal(await mine.count(), 7);
      await mine.nth(5).locator('xpath=..').locator(':focus').waitFor();

      const first = ann.getByRole('button', { name: /^Cancel: / }).first();
      const code = (await first.getAttribute('aria-label'))?.slice(-6) ?? '';
      await first.click();
      await ann.getByRole('button', { name: `Open: ${code}` }).waitFor({ state: 'detached' });
      await invite(ann);
      // Nobody sat in what was called off: there is nobody to play it with again.
      await ann.goto(`/m/${code}`);
      await says(ann, 'No result.');
      const again = inBar(ann, 'Rematch');
      await again.and(ann.locator('[aria-disabled=true]')).waitFor({ state: 'attached' });
    },
    ['--live-matches', '7'],
  ),
);

test(
  'an open match takes a bot after all',
  inHouse(async (house) => {
    const page = await house.visitor();
    await invite(page);
    // The bot that the lobby offers, too.
    const level = page.getByLabel('Level of the bot');
    assert.equal(await level.inputValue(), 'easy');
    await level.selectOption('Hard');
    await page.getByRole('button', { name: 'Add bot' }).click();
    await myTurn(page);
    await page.locator('.player', { hasText: 'Hard bot' }).waitFor();
  }),
);

test(
  'a game that the page knows nothing of is drawn and played',
  inHouse(async (house) => {
    const page = await house.visitor();
    // To this page the games have other names than it has customs for.
    const names = { 'tic-tac-toe': 'noughts', 'connect-four': 'drops' };
    await page.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      const known = Object.entries(names);
      socket.onMessage((text) =>
        server.send(
          known.reduce((all, [ours, theirs]) => all.replaceAll(theirs, ours), String(text)),
        ),
      );
      server.onMessage((text) =>
        socket.send(
          known.reduce((all, [ours, theirs]) => all.replaceAll(ours, theirs), String(text)),
        ),
      );
    });
    await page.reload();
    await playBot(page, { game: 'Tic-tac-toe' });
    await play(page, 'b2');
    await page.getByRole('gridcell', { name: /^b2, x/ }).waitFor();
    await page.getByRole('link', { name: 'Plyhouse' }).click();
    // Its moves name no squares: they are offered beside the board.
    await playBot(page, { game: 'Connect Four' });
    await page
      .getByRole('group', { name: 'Other moves' })
      .getByRole('button', { name: '4' })
      .click();
    await page.getByRole('gridcell', { name: /^d1, red/ }).waitFor();
    await myTurn(page);
    await picture(page, 'unknown-game');
  }),
);
