// Why a text tells no position, or a position cannot be.

import { say } from '../text/language.ts';

import type { Key, Values } from '../text/language.ts';

export class Wrong extends Error {
  readonly key: Key;
  readonly values: Values;

  constructor(key: Key, values: Values = {}) {
    super(key);
    this.key = key;
    this.values = values;
  }

  /** In a sentence. */
  get says() {
    return say(this.key, this.values);
  }
}
