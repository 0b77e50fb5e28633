// The page's words, in the language of whoever reads it: each language is one file, of which only the one
// in use is loaded. Numbers, dates and lists are written as that language has them.

import type english from '../locales/en.json';

export type TextKey = keyof typeof english.initial | keyof typeof english.lazy;
export type TextValues = Record<string, string | number>;

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

const WORDS = await loadInitialTexts();

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
/** Made once each. */
const UNITS: Map<string, Intl.NumberFormat> = new Map();
/** What stands between two sentences. */
const GAP = LANGUAGE === 'zh' || LANGUAGE === 'ja' ? '' : ' ';

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
  Object.assign(WORDS, await loadTexts('lazy', LANGUAGE));
}

function localeOf(lang: string) {
  const wished = globalThis.navigator?.languages ?? [];
  const isOf = (tag: string) => tag === lang || tag.startsWith(`${lang}-`);
  return wished.find((tag) => isOf(tag) && isWellFormed(tag)) ?? lang;
}

/** Whether `Intl` takes the tag. Browsers pass on what the system has set, such as `en-US@posix`. */
function isWellFormed(tag: string) {
  try {
    return !!new Intl.Locale(tag);
  } catch {
    return false;
  }
}

/**
 * What is said, filled in with these values.
 * @param values `count` also chooses among the forms of a text
 */
export const translate = (key: TextKey, values: TextValues = {}) => said(key, values).join('');

/** What is said, in parts, so that elements can be filled in. */
export const translateParts = (key: TextKey, values: Record<string, Node | string | number>) =>
  said(key, values);

/** What is said under a key that is put together; `null` if there is nothing. */
export const tryTranslate = (key: string, values: TextValues = {}) =>
  Object.hasOwn(WORDS, key) ? said(key, values).join('') : null;

/** Several texts that belong together; none under a key that is not known. */
export function translateList(key: string): string[] {
  const texts = WORDS[key];
  return Array.isArray(texts) ? texts : [];
}

function said<V>(key: string, values: Record<string, V>): (V | string)[] {
  const text = WORDS[key];
  const form =
    typeof text === 'string'
      ? text
      : ((text as Record<string, string>)[PLURALS.select(Number(values.count))] ??
        (text as Record<string, string>).other ??
        '');
  return form
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 === 0 ? part : written(values[part] as V)));
}

const written = <V>(value: V) => (typeof value === 'number' ? formatNumber(value) : value);

export const formatNumber = (value: number) => NUMBER.format(value);

export const formatList = (items: string[]) => LIST.format(items);

/** A point in time, by weekday, day and hour. */
export const formatDateTime = (time: number) => DATE.format(time);

/** A day, without its hour. */
export const formatDate = (time: number) => DAY.format(time);

/** So many seconds from now. */
export const formatSecondsFromNow = (seconds: number) => SOON.format(seconds, 'second');

/** So much of a unit of time. */
export function formatUnit(
  value: number,
  unit: 'day' | 'hour' | 'minute' | 'second',
  unitDisplay: 'long' | 'short' | 'narrow',
) {
  const made = `${unit} ${unitDisplay}`;
  const format =
    UNITS.get(made) ??
    new Intl.NumberFormat(LOCALE, { ...FRACTION, style: 'unit', unit, unitDisplay });
  UNITS.set(made, format);
  return format.format(value);
}

/** A number with so many decimals. */
export const formatDecimal = (value: number, digits: number) =>
  value.toLocaleString(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Sentences one after the other; what is empty is left out. */
export const joinSentences = (...texts: (string | false | null | undefined)[]) =>
  texts.filter(Boolean).join(GAP);

/** As a text begins. */
export const capitalize = (text: string) => {
  const [first = ''] = text;
  return first.toLocaleUpperCase(LOCALE) + text.slice(first.length);
};

// What the page has had from the start is told as soon as there are words: the rest may be slow to come.
for (const element of root?.querySelectorAll('[data-say], [data-label]') ?? []) {
  const { say: text, label } = (element as HTMLElement).dataset;
  if (text !== undefined) element.textContent = tryTranslate(text);
  if (label !== undefined) element.setAttribute('aria-label', tryTranslate(label) ?? '');
}
