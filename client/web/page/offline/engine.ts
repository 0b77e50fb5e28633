// The rules and the bots of the small games, in WebAssembly (`client/alone`), asked by text.

import type { Game } from '../net/protocol.ts';

/** How a match stands after its moves. */
export interface GameState {
  position: string;
  /** in canonical form, with the bot's if one was asked */
  moves: string[];
  turn: number | null;
  legal: string[];
  outcome?: { winner: number | null; line?: string[] };
}
export interface EngineQuery {
  game: string;
  moves: string[];
  /** of the bot that is to play a move */
  level?: string;
  /** what it draws from */
  seed?: number;
}
export interface EngineExports {
  memory: WebAssembly.Memory;
  room: (bytes: number) => number;
  ask: () => number;
  answer: () => number;
}

export class Engine {
  #exports;

  constructor(exports: WebAssembly.Exports) {
    this.#exports = exports as unknown as EngineExports;
  }

  static async load(file: Response | Promise<Response>) {
    const { instance } = await WebAssembly.instantiateStreaming(file, {});
    return new Engine(instance.exports);
  }

  /** The games that can be played. */
  games(): Pick<Game, 'game' | 'title' | 'sides' | 'files' | 'ranks'>[] {
    return JSON.parse(this.#answer(''));
  }

  /** Fails with what is wrong with the moves. */
  query(question: EngineQuery): GameState {
    const answer = JSON.parse(this.#answer(JSON.stringify(question)));
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  #answer(question: string) {
    const { memory, room, ask, answer } = this.#exports;
    const bytes = new TextEncoder().encode(question);
    const at = room(bytes.length);
    if (at === 0) throw new Error('the question is too long');
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const length = ask();
    // The memory may have grown, and is another buffer then.
    return new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length));
  }
}
