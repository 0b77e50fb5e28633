// What a bot thinks of a position: it is asked for its move in a match that begins there, which is called off as
// soon as it has moved.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { translate } from '../text/language.ts';
import { EnginePanel } from '../analysis/engine-panel.ts';
import { capitalizeSentence } from '../analysis/eval-text.ts';

import type { Message, Request, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { EditorPosition } from './editor-position.ts';

/** So soon a match ends that somebody has left who only asked. */
const PATIENCE_MS = 10_000;

export class BotSuggestion {
  element = h('div', { class: 'opinion', hidden: true });
  #app;
  #advise;
  #says = h('p', { role: 'status' });
  /** The match in which it is thought about. */
  #match = '';
  #panel: EnginePanel | null = null;
  #draft: EditorPosition | null = null;
  /** How often it was asked, or the position became another: what was asked before is old. */
  #times = 0;

  /** @param advise draws a move */
  constructor(app: App, advise: (move: string) => void) {
    this.#app = app;
    this.#advise = advise;
  }

  async ask(game: string, draft: EditorPosition) {
    this.reset();
    const times = this.#times;
    const bot = { bot: this.#app.levels.at(-1)?.level ?? '' };
    const seats: [SeatRequest, SeatRequest] = draft.turn === 0 ? [bot, 'me'] : ['me', bot];
    const wanted = { type: 'create' as const, game, seats, position: draft.text, thinking: true };
    const alone = { listed: false, watch: 'nobody' as const, history: false };
    const asked = { ...wanted, ...alone, patience_ms: PATIENCE_MS };
    const told = await this.#app.connection.request(asked);
    // It is no match to be seen anywhere.
    this.#app.matches.delete(told.match);
    this.#match = told.match;
    if (times !== this.#times) {
      this.#callOff();
      return;
    }
    this.#draft = draft;
    this.#panel = new EnginePanel(told);
    setText(this.#says, translate('setup.asking'));
    replaceChildren(this.element, this.#says, h('div', { class: 'thinking' }, this.#panel.element));
    this.element.hidden = false;
    // The snapshot may be as of after the bot's move.
    const { lastThinking: thought } = this.#app;
    if (thought) this.onMessage(thought);
    if (told.moves[0] !== undefined) this.#moved(told.moves[0]);
  }

  onMessage(message: Message) {
    if (!('match' in message) || message.match !== this.#match || this.#match === '') return;
    if (message.type === 'thinking' && message.ply === 0) {
      this.#panel?.show(message);
      if (message.pv[0] !== undefined) this.#advise(message.pv[0]);
    }
    if (message.type === 'moved' && message.ply === 0) this.#moved(message.move);
  }

  #moved(move: string) {
    const { describeMove: sayMove } = conventionsOf(this.#draft?.board.game ?? '');
    const said =
      move === 'pass' ? translate('bar.pass') : sayMove(move, this.#draft?.board ?? null);
    setText(this.#says, translate('setup.plays', { move: capitalizeSentence(said) }));
    this.#advise(move);
    this.#callOff();
  }

  /** The position is another: what was thought of the one before is old. */
  reset() {
    this.#times++;
    this.#callOff();
    this.element.hidden = true;
  }

  /** Nobody waits for it any more. */
  #callOff() {
    const match = this.#match;
    this.#match = '';
    if (match === '' || this.#app.connection.status.state !== 'open') return;
    const ask = (request: Request) => this.#app.connection.request(request);
    // If it is over by itself there is nothing to be called off.
    ask({ type: 'abort', match })
      .catch(() => {})
      .then(() => ask({ type: 'leave', match }))
      .catch(() => {});
  }
}
