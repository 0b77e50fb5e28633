// The lobby: what others wait in and play, as it changes.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { invite, playBot } from './players.js';
import { closeBrowser, inHouse } from './support.js';

/** @import { Page } from './support.js' */

after(closeBrowser);

/** Invites, and gives the code of the match. @param {Page} page @param {string} [game] */
const opened = async (page, game) => new URL(await invite(page, game)).pathname.slice(-6);

/** @param {Page} page @param {string} code */
const join = (page, code) => page.getByRole('button', { name: `Join: ${code}` });

/** How often the page asks for what, over its last connection. @param {Page} page */
function asked(page) {
  /** @type {string[]} */
  let types = [];
  page.on('websocket', (socket) => {
    types = [];
    socket.on('framesent', ({ payload }) => types.push(JSON.parse(String(payload)).type));
  });
  return (/** @type {string} */ type) => types.filter((known) => known === type).length;
}

test(
  'the lists change by themselves, and are asked for once',
  inHouse(async (house) => {
    const eve = await house.visitor();
    const count = asked(eve);
    await eve.reload();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const ann = await house.visitor();
    const first = await opened(ann);
    await join(eve, first).waitFor();
    await ann.getByRole('button', { name: 'Seat it' }).click();
    await eve.getByRole('button', { name: `Watch: ${first}` }).waitFor();
    await ann.getByRole('button', { name: 'Resign …' }).click();
    await ann.getByRole('button', { name: 'Resign', exact: true }).click();
    await eve.getByText('No match is being played now.').waitFor();
    assert.deepEqual([count('watch_list'), count('list')], [1, 2]);
    // Whoever plays looks at no list.
    await playBot(eve);
    await eve.waitForFunction(() => document.querySelector('.room.my-turn'));
    assert.equal(count('unwatch_list'), 1);
  }),
);

test(
  'the lists go on after the connection was lost',
  inHouse(async (house) => {
    house.expectsFailures = true;
    const eve = await house.visitor();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    await house.server.kill();
    await eve.getByText('Next try in').waitFor();
    await house.server.start();
    await eve.getByText('Next try in').waitFor({ state: 'hidden' });
    const ann = await house.visitor();
    await join(eve, await opened(ann)).waitFor();
  }),
);

test(
  'after too many changes the lists are asked for anew',
  inHouse(async (house) => {
    const eve = await house.visitor();
    /** @type {(text: string) => void} */
    let tell = () => {};
    await eve.routeWebSocket('**/ws', (socket) => {
      const server = socket.connectToServer();
      tell = (text) => socket.send(text);
      server.onMessage((text) => {
        const { type, changed, gone } = JSON.parse(String(text));
        if (type !== 'list_changed') socket.send(text);
        else if (changed.length + gone.length > 0) tell(reset);
      });
    });
    const reset = JSON.stringify({
      type: 'list_changed',
      changed: [],
      gone: [],
      total: 1,
      reset: true,
    });
    await eve.reload();
    await eve.getByText('Nobody waits for an opponent now.').waitFor();
    const ann = await house.visitor();
    await join(eve, await opened(ann)).waitFor();
  }),
);

test(
  'one looks at the matches of one game',
  inHouse(async (house) => {
    const eve = await house.visitor();
    const [ann, bob, cem] = [await house.visitor(), await house.visitor(), await house.visitor()];
    const drops = await opened(ann, 'Connect Four');
    const noughts = await opened(bob, 'Tic-tac-toe');
    for (const code of [drops, noughts]) await join(eve, code).waitFor();
    const games = eve.getByLabel('Matches of');
    await games.selectOption('Connect Four');
    await join(eve, noughts).waitFor({ state: 'detached' });
    await join(eve, drops).waitFor();
    // The next change is of this game; what came before it is not to be seen.
    const others = await opened(cem, 'Tic-tac-toe');
    await ann.getByRole('button', { name: 'Call it off' }).click();
    await join(eve, drops).waitFor({ state: 'detached' });
    assert.equal(await eve.getByRole('button', { name: /^Join: / }).count(), 0);
    await games.selectOption('All games');
    for (const code of [noughts, others]) await join(eve, code).waitFor();
  }),
);
