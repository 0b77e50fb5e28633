// Why a text tells no position, or a position cannot be.

import { say } from '../../language.js';

/** @import { Key, Values } from '../../language.js' */

export class Wrong extends Error {
  /** @param {Key} key @param {Values} [values] */
  constructor(key, values = {}) {
    super(key);
    this.key = key;
    this.values = values;
  }

  /** In a sentence. */
  get says() {
    return say(this.key, this.values);
  }
}
