// Loads the texts of the page in the user's language. Formats numbers, dates and lists for its
// locale.

import type english from '../locales/en.json';

export type TextKey = keyof typeof english.initial | keyof typeof english.lazy;
export type TextValues = Record<string, string | number>;

/** All languages of the page with their own names. */
export const LANGUAGES = {
  de: 'Deutsch',
  en: 'English',
  es: 'Español',
  fr: 'Français',
  ja: '日本語',
  pt: 'Português',
  zh: '中文',
};

/** Undefined in tests that run without a browser. */
const root = globalThis.document?.documentElement;

const TEXTS = await loadInitialTexts();

/** The language in use, one of `LANGUAGES`. */
export const LANGUAGE = root?.dataset.language ?? 'en';

/** The language with the region of the user, such as `en-GB`. */
const LOCALE = localeOf(root?.lang ?? 'en');

const PLURALS = new Intl.PluralRules(LOCALE);
const FRACTION = { maximumFractionDigits: 3 };
const NUMBER = new Intl.NumberFormat(LOCALE, FRACTION);
const LIST = new Intl.ListFormat(LOCALE, { style: 'narrow' });
const RELATIVE_TIME = new Intl.RelativeTimeFormat(LOCALE);
/** Date and time of a deadline. */
const DATE_TIME = new Intl.DateTimeFormat(LOCALE, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
/** Date without the time. */
const DATE = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' });
/** Cached formats by unit and display. */
const UNIT_FORMATS: Map<string, Intl.NumberFormat> = new Map();
/** Separator of two sentences. */
const SEPARATOR = LANGUAGE === 'zh' || LANGUAGE === 'ja' ? '' : ' ';

type Texts = Record<string, string | string[] | Record<string, string>>;

/** Loads the texts of `locales/LANGUAGE.json`, which the build splits in two modules. */
async function loadTexts(part: 'initial' | 'lazy', language: string): Promise<Texts> {
  return (await import(`./locales/${part}/${language}.js`)).default;
}

async function loadInitialTexts() {
  try {
    return await loadTexts('initial', root?.dataset.language ?? 'en');
  } catch (error) {
    if (!root) throw error;
    const english = await loadTexts('initial', 'en');
    root.dataset.language = 'en';
    root.lang = 'en';
    return english;
  }
}

/** Adds the texts of the lazily loaded views. */
export async function loadLazyTexts() {
  Object.assign(TEXTS, await loadTexts('lazy', LANGUAGE));
}

function localeOf(lang: string) {
  const preferred = globalThis.navigator?.languages ?? [];
  const isOf = (tag: string) => tag === lang || tag.startsWith(`${lang}-`);
  return preferred.find((tag) => isOf(tag) && isWellFormed(tag)) ?? lang;
}

/**
 * Whether `Intl` accepts the tag. Browsers also report tags of the system such as `en-US@posix`.
 */
function isWellFormed(tag: string) {
  try {
    return !!new Intl.Locale(tag);
  } catch {
    return false;
  }
}

/**
 * Returns the text of a key.
 * @param values of the placeholders; `count` also selects the plural form
 */
export const translate = (key: TextKey, values: TextValues = {}) => fillIn(key, values).join('');

/** Returns the text in parts, so that placeholders can be elements. */
export const translateParts = (key: TextKey, values: Record<string, Node | string | number>) =>
  fillIn(key, values);

/** Returns the text of a computed key, or `null` if there is none. */
export const tryTranslate = (key: string, values: TextValues = {}) =>
  Object.hasOwn(TEXTS, key) ? fillIn(key, values).join('') : null;

/** Returns the list of texts of a key; empty if there is none. */
export function translateList(key: string): string[] {
  const texts = TEXTS[key];
  return Array.isArray(texts) ? texts : [];
}

function fillIn<V>(key: string, values: Record<string, V>): (V | string)[] {
  const text = TEXTS[key];
  const form =
    typeof text === 'string'
      ? text
      : ((text as Record<string, string>)[PLURALS.select(Number(values.count))] ??
        (text as Record<string, string>).other ??
        '');
  return form
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : formatValue(values[part] as V)));
}

const formatValue = <V>(value: V) => (typeof value === 'number' ? formatNumber(value) : value);

export const formatNumber = (value: number) => NUMBER.format(value);

export const formatList = (items: string[]) => LIST.format(items);

export const formatDateTime = (time: number) => DATE_TIME.format(time);

export const formatDate = (time: number) => DATE.format(time);

export const formatSecondsFromNow = (seconds: number) => RELATIVE_TIME.format(seconds, 'second');

export function formatUnit(
  value: number,
  unit: 'day' | 'hour' | 'minute' | 'second',
  unitDisplay: 'long' | 'short' | 'narrow',
) {
  const key = `${unit} ${unitDisplay}`;
  const format =
    UNIT_FORMATS.get(key) ??
    new Intl.NumberFormat(LOCALE, { ...FRACTION, style: 'unit', unit, unitDisplay });
  UNIT_FORMATS.set(key, format);
  return format.format(value);
}

export const formatDecimal = (value: number, digits: number) =>
  value.toLocaleString(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Joins sentences; empty ones are skipped. */
export const joinSentences = (...texts: (string | false | null | undefined)[]) =>
  texts.filter(Boolean).join(SEPARATOR);

export const capitalize = (text: string) => {
  const [first = ''] = text;
  return first.toLocaleUpperCase(LOCALE) + text.slice(first.length);
};

// Sets the texts of `index.html` before the other modules are loaded.
for (const element of root?.querySelectorAll('[data-say], [data-label]') ?? []) {
  const { say: text, label } = (element as HTMLElement).dataset;
  if (text !== undefined) element.textContent = tryTranslate(text);
  if (label !== undefined) element.setAttribute('aria-label', tryTranslate(label) ?? '');
}
