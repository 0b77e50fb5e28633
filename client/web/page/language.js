// The page's words, in the language of whoever reads it: each language is one file, of which only the one
// in use is loaded. Numbers, dates and lists are written as that language has them.

/** @typedef {typeof import('./languages/en.js').default} First */
/** @typedef {First & typeof import('./languages/later/en.js').default} English */
/** @typedef {keyof English} Key */
/** @typedef {Record<string, string | number>} Values */

/** Every language that the page speaks, by its own name. */
export const LANGUAGES = {
  de: 'Deutsch',
  en: 'English',
  es: 'Español',
  fr: 'Français',
  ja: '日本語',
  pt: 'Português',
  zh: '中文',
};

/** The page itself; tests of single modules have none. */
const root = globalThis.document?.documentElement;

/** @type {Record<string, string | string[] | Record<string, string>>} */
const WORDS = (await load()).default;

/** The language in use, one of `LANGUAGES`. */
export const LANGUAGE = root?.dataset.language ?? 'en';

/** As it is written where the reader lives. */
const LOCALE = localeOf(root?.lang ?? 'en');

const PLURALS = new Intl.PluralRules(LOCALE);
const FRACTION = { maximumFractionDigits: 3 };
const NUMBER = new Intl.NumberFormat(LOCALE, FRACTION);
const LIST = new Intl.ListFormat(LOCALE, { style: 'narrow' });
const SOON = new Intl.RelativeTimeFormat(LOCALE);
/** By when something has to be done. */
const DATE = new Intl.DateTimeFormat(LOCALE, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
/** A day, where the hour is of no account. */
const DAY = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' });
/** Made once each. @type {Map<string, Intl.NumberFormat>} */
const UNITS = new Map();
/** What stands between two sentences. */
const GAP = LANGUAGE === 'zh' || LANGUAGE === 'ja' ? '' : ' ';

async function load() {
  try {
    return await import(`./languages/${root?.dataset.language ?? 'en'}.js`);
  } catch (error) {
    if (!root) throw error;
    const english = await import('./languages/en.js');
    root.dataset.language = 'en';
    root.lang = 'en';
    return english;
  }
}

/** Learns what is said in the views that few open. */
export async function learn() {
  Object.assign(WORDS, (await import(`./languages/later/${LANGUAGE}.js`)).default);
}

/** @param {string} lang */
function localeOf(lang) {
  const wished = globalThis.navigator?.languages ?? [];
  const isOf = (/** @type {string} */ tag) => tag === lang || tag.startsWith(`${lang}-`);
  return wished.find((tag) => isOf(tag) && isWellFormed(tag)) ?? lang;
}

/**
 * Whether `Intl` takes the tag. Browsers pass on what the system has set, such as `en-US@posix`.
 * @param {string} tag
 */
function isWellFormed(tag) {
  try {
    return !!new Intl.Locale(tag);
  } catch {
    return false;
  }
}

/**
 * What is said, filled in with these values.
 * @param {Key} key
 * @param {Values} [values] `count` also chooses among the forms of a text
 */
export const say = (key, values = {}) => said(key, values).join('');

/**
 * What is said, in parts, so that elements can be filled in.
 * @param {Key} key
 * @param {Record<string, Node | string | number>} values
 */
export const parts = (key, values) => said(key, values);

/**
 * What is said under a key that is put together; `null` if there is nothing.
 * @param {string} key
 * @param {Values} [values]
 */
export const known = (key, values = {}) =>
  Object.hasOwn(WORDS, key) ? said(key, values).join('') : null;

/** Several texts that belong together; none under a key that is not known. @param {string} key @returns {string[]} */
export function all(key) {
  const texts = WORDS[key];
  return Array.isArray(texts) ? texts : [];
}

/**
 * @template V
 * @param {string} key
 * @param {Record<string, V>} values
 * @returns {(V | string)[]}
 */
function said(key, values) {
  const text = WORDS[key];
  const form =
    typeof text === 'string'
      ? text
      : (/** @type {Record<string, string>} */ (text)[PLURALS.select(Number(values.count))] ??
        /** @type {Record<string, string>} */ (text).other ??
        '');
  return form
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 === 0 ? part : written(/** @type {V} */ (values[part]))));
}

/** @template V @param {V} value */
const written = (value) => (typeof value === 'number' ? number(value) : value);

/** @param {number} value */
export const number = (value) => NUMBER.format(value);

/** @param {string[]} items */
export const list = (items) => LIST.format(items);

/** A point in time, by weekday, day and hour. @param {number} time */
export const date = (time) => DATE.format(time);

/** A day, without its hour. @param {number} time */
export const day = (time) => DAY.format(time);

/** So many seconds from now. @param {number} seconds */
export const soon = (seconds) => SOON.format(seconds, 'second');

/**
 * So much of a unit of time.
 * @param {number} value
 * @param {'day' | 'hour' | 'minute' | 'second'} unit
 * @param {'long' | 'short' | 'narrow'} unitDisplay
 */
export function inUnit(value, unit, unitDisplay) {
  const made = `${unit} ${unitDisplay}`;
  const format =
    UNITS.get(made) ??
    new Intl.NumberFormat(LOCALE, { ...FRACTION, style: 'unit', unit, unitDisplay });
  UNITS.set(made, format);
  return format.format(value);
}

/** A number with so many decimals. @param {number} value @param {number} digits */
export const decimal = (value, digits) =>
  value.toLocaleString(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Sentences one after the other; what is empty is left out. @param {...(string | false | null | undefined)} texts */
export const sentences = (...texts) => texts.filter(Boolean).join(GAP);

/** As a text begins. @param {string} text */
export const capital = (text) => {
  const [first = ''] = text;
  return first.toLocaleUpperCase(LOCALE) + text.slice(first.length);
};

// What the page has had from the start is told as soon as there are words: the rest may be slow to come.
for (const element of root?.querySelectorAll('[data-say], [data-label]') ?? []) {
  const { say: text, label } = /** @type {HTMLElement} */ (element).dataset;
  if (text !== undefined) element.textContent = known(text);
  if (label !== undefined) element.setAttribute('aria-label', known(label) ?? '');
}
