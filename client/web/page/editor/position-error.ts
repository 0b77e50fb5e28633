// Why a text tells no position, or a position cannot be.

import { translate } from '../text/language.ts';

import type { TextKey, TextValues } from '../text/language.ts';

export class PositionError extends Error {
  readonly key: TextKey;
  readonly values: TextValues;

  constructor(key: TextKey, values: TextValues = {}) {
    super(key);
    this.key = key;
    this.values = values;
  }

  /** In a sentence. */
  get text() {
    return translate(this.key, this.values);
  }
}
