// Calls the WebAssembly module `client/alone`, which has the rules and bots of the offline games.

import type { Game } from '../net/protocol.ts';

/** State of a match after its moves. */
export interface GameState {
  position: string;
  /** in canonical notation, including the move of the bot if the query has a `level` */
  moves: string[];
  turn: number | null;
  legal: string[];
  outcome?: { winner: number | null; line?: string[] };
}
export interface EngineQuery {
  game: string;
  moves: string[];
  /** level of the bot that plays the next move */
  level?: string;
  /** seed of the bot's random choices */
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

  /** Returns the games that are available offline. */
  games(): Pick<Game, 'game' | 'title' | 'sides' | 'files' | 'ranks'>[] {
    return JSON.parse(this.#call(''));
  }

  /** Throws an error if a move is illegal. */
  query(query: EngineQuery): GameState {
    const response = JSON.parse(this.#call(JSON.stringify(query)));
    if (response.error !== undefined) throw new Error(response.error);
    return response;
  }

  #call(request: string) {
    const { memory, room, ask, answer } = this.#exports;
    const bytes = new TextEncoder().encode(request);
    const address = room(bytes.length);
    if (address === 0) throw new Error('the question is too long');
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
    const length = ask();
    // `memory.buffer` is another object if the call has grown the memory.
    return new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length));
  }
}
