// What a bot thinks of a position: it is asked for its move in a match that begins there, which is called off as
// soon as it has moved.

import { fill, h, write } from '../ui/dom.ts';
import { customsOf } from '../model/games.ts';
import { say } from '../text/language.ts';
import { ThinkingPanel } from '../analysis/engine-panel.ts';
import { begin } from '../analysis/eval-text.ts';

import type { Message, Request, SeatWish } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Draft } from './draft.ts';

/** So soon a match ends that somebody has left who only asked. */
const PATIENCE_MS = 10_000;

export class Opinion {
  element = h('div', { class: 'opinion', hidden: true });
  #app;
  #advise;
  #says = h('p', { role: 'status' });
  /** The match in which it is thought about. */
  #match = '';
  #panel: ThinkingPanel | null = null;
  #draft: Draft | null = null;
  /** How often it was asked, or the position became another: what was asked before is old. */
  #times = 0;

  /** @param advise draws a move */
  constructor(app: App, advise: (move: string) => void) {
    this.#app = app;
    this.#advise = advise;
  }

  async ask(game: string, draft: Draft) {
    this.forget();
    const times = this.#times;
    const bot = { bot: this.#app.levels.at(-1)?.level ?? '' };
    const seats: [SeatWish, SeatWish] = draft.turn === 0 ? [bot, 'me'] : ['me', bot];
    const wanted = { type: 'create' as const, game, seats, position: draft.text, thinking: true };
    const alone = { listed: false, watch: 'nobody' as const, history: false };
    const asked = { ...wanted, ...alone, patience_ms: PATIENCE_MS };
    const told = await this.#app.connection.ask(asked);
    // It is no match to be seen anywhere.
    this.#app.matches.delete(told.match);
    this.#match = told.match;
    if (times !== this.#times) {
      this.#callOff();
      return;
    }
    this.#draft = draft;
    this.#panel = new ThinkingPanel(told);
    write(this.#says, say('setup.asking'));
    fill(this.element, this.#says, h('div', { class: 'thinking' }, this.#panel.element));
    this.element.hidden = false;
    // The snapshot may be as of after the bot's move.
    const { thought } = this.#app;
    if (thought) this.hear(thought);
    if (told.moves[0] !== undefined) this.#moved(told.moves[0]);
  }

  hear(message: Message) {
    if (!('match' in message) || message.match !== this.#match || this.#match === '') return;
    if (message.type === 'thinking' && message.ply === 0) {
      this.#panel?.show(message);
      if (message.pv[0] !== undefined) this.#advise(message.pv[0]);
    }
    if (message.type === 'moved' && message.ply === 0) this.#moved(message.move);
  }

  #moved(move: string) {
    const { sayMove } = customsOf(this.#draft?.board.game ?? '');
    const said = move === 'pass' ? say('bar.pass') : sayMove(move, this.#draft?.board ?? null);
    write(this.#says, say('setup.plays', { move: begin(said) }));
    this.#advise(move);
    this.#callOff();
  }

  /** The position is another: what was thought of the one before is old. */
  forget() {
    this.#times++;
    this.#callOff();
    this.element.hidden = true;
  }

  /** Nobody waits for it any more. */
  #callOff() {
    const match = this.#match;
    this.#match = '';
    if (match === '' || this.#app.connection.link.state !== 'open') return;
    const ask = (request: Request) => this.#app.connection.ask(request);
    // If it is over by itself there is nothing to be called off.
    ask({ type: 'abort', match })
      .catch(() => {})
      .then(() => ask({ type: 'leave', match }))
      .catch(() => {});
  }
}
