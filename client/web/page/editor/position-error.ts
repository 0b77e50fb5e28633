// The error for texts without a valid position and for positions that cannot be played.

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

  get text() {
    return translate(this.key, this.values);
  }
}
