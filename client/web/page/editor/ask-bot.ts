// Asks a bot for its move in a position. The bot plays in a hidden match, which the page aborts
// after that move.

import { replaceChildren, h, setText } from '../ui/dom.ts';
import { conventionsOf } from '../model/game-conventions.ts';
import { translate } from '../text/language.ts';
import { BotThinkingPanel } from '../analysis/bot-thinking-panel.ts';
import { capitalizeSentence } from '../analysis/eval-text.ts';

import type { Request, SeatRequest } from '../net/protocol.ts';
import type { App } from '../app/main.ts';
import type { Action } from '../model/state.ts';
import type { EditorPosition } from './editor-position.ts';

/** The server ends the hidden match when the player has been absent for this long. */
const ABSENCE_LIMIT_MS = 10_000;

export class BotSuggestion {
  element = h('div', { class: 'opinion', hidden: true });
  #app;
  #drawMove;
  #status = h('p', { role: 'status' });
  /** Id of the hidden match, or empty. */
  #match = '';
  #panel: BotThinkingPanel | null = null;
  #position: EditorPosition | null = null;
  /** Number of requests and resets. A reply to an earlier request is ignored. */
  #requestCount = 0;

  constructor(app: App, drawMove: (move: string) => void) {
    this.#app = app;
    this.#drawMove = drawMove;
  }

  async ask(game: string, position: EditorPosition) {
    this.reset();
    const requestId = this.#requestCount;
    const bot = { bot: this.#app.levels.at(-1)?.level ?? '' };
    const seats: [SeatRequest, SeatRequest] = position.turn === 0 ? [bot, 'me'] : ['me', bot];
    const match = await this.#app.connection.request({
      ...{ type: 'create', game, seats, position: position.text, thinking: true },
      ...{ listed: false, watch: 'nobody', history: false, patience_ms: ABSENCE_LIMIT_MS },
    });
    // No other part of the page shows this match.
    this.#app.store.dispatch({ type: 'match_left', match: match.match });
    this.#match = match.match;
    if (requestId !== this.#requestCount) {
      this.#abort();
      return;
    }
    this.#position = position;
    this.#panel = new BotThinkingPanel(match);
    setText(this.#status, translate('setup.asking'));
    replaceChildren(
      this.element,
      this.#status,
      h('div', { class: 'thinking' }, this.#panel.element),
    );
    this.element.hidden = false;
    // The bot may have moved before the snapshot was taken.
    const { lastThinking } = this.#app;
    if (lastThinking) this.onChange(lastThinking);
    if (match.moves[0] !== undefined) this.#onBotMove(match.moves[0]);
  }

  onChange(message: Action) {
    if (!('match' in message) || message.match !== this.#match || this.#match === '') return;
    if (message.type === 'thinking' && message.ply === 0) {
      this.#panel?.show(message);
      if (message.pv[0] !== undefined) this.#drawMove(message.pv[0]);
    }
    if (message.type === 'moved' && message.ply === 0) this.#onBotMove(message.move);
  }

  #onBotMove(move: string) {
    const { describeMove } = conventionsOf(this.#position?.board.game ?? '');
    const text =
      move === 'pass' ? translate('bar.pass') : describeMove(move, this.#position?.board ?? null);
    setText(this.#status, translate('setup.plays', { move: capitalizeSentence(text) }));
    this.#drawMove(move);
    this.#abort();
  }

  /** Discards the suggestion when the position changes. */
  reset() {
    this.#requestCount++;
    this.#abort();
    this.element.hidden = true;
  }

  #abort() {
    const match = this.#match;
    this.#match = '';
    if (match === '' || this.#app.connection.status.state !== 'open') return;
    const send = (request: Request) => this.#app.connection.request(request);
    // The abort fails if the match is already over.
    send({ type: 'abort', match })
      .catch(() => {})
      .then(() => send({ type: 'leave', match }))
      .catch(() => {});
  }
}
