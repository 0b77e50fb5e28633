// The rules and the bots of the small games, in WebAssembly (`client/alone`), asked by text.

/** @import { Game } from '../../protocol.js' */

/**
 * How a match stands after its moves.
 * @typedef {object} Standing
 * @property {string} position
 * @property {string[]} moves in canonical form, with the bot's if one was asked
 * @property {number | null} turn
 * @property {string[]} legal
 * @property {{ winner: number | null, line?: string[] }} [outcome]
 *
 * @typedef {object} Question
 * @property {string} game
 * @property {string[]} moves
 * @property {string} [level] of the bot that is to play a move
 * @property {number} [seed] what it draws from
 *
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(bytes: number) => number} room
 * @property {() => number} ask
 * @property {() => number} answer
 */

export class Engine {
  #exports;

  /** @param {WebAssembly.Exports} exports */
  constructor(exports) {
    this.#exports = /** @type {Exports} */ (/** @type {unknown} */ (exports));
  }

  /** @param {Response | Promise<Response>} file */
  static async load(file) {
    const { instance } = await WebAssembly.instantiateStreaming(file, {});
    return new Engine(instance.exports);
  }

  /** The games that can be played. @returns {Pick<Game, 'game' | 'title' | 'sides' | 'files' | 'ranks'>[]} */
  games() {
    return JSON.parse(this.#answer(''));
  }

  /** Fails with what is wrong with the moves. @param {Question} question @returns {Standing} */
  ask(question) {
    const answer = JSON.parse(this.#answer(JSON.stringify(question)));
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  /** @param {string} question */
  #answer(question) {
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
