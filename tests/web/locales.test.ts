// All texts of the page are in the locale files, and all locale files have the same texts.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { LANGUAGES } from '../../client/web/page/text/language.ts';

import type { Node } from 'typescript';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const ts: typeof import('typescript') = require('typescript');

type Text = string | string[] | Record<string, string>;

const pageDir = fileURLToPath(new URL('../../client/web/page', import.meta.url));
const files = readdirSync(pageDir, { recursive: true, encoding: 'utf8' });
/** This module contains names of products, which need no translation. */
const UNTRANSLATED = join('ui', 'device-name.ts');
const modules = files.filter((file) => file.endsWith('.ts') && file !== UNTRANSLATED);

const read = (file: string) => readFileSync(join(pageDir, file), 'utf8');

/** The texts of a language in two parts: `initial` and `lazy`. */
const parts = (code: string): Record<string, Text>[] =>
  Object.values(JSON.parse(read(`locales/${code}.json`)));

const textsOf = (code: string): Record<string, Text> => Object.assign({}, ...parts(code));

/** Functions whose arguments users do not read: text keys, selectors and media queries. */
const KEY_FUNCTIONS =
  /^(translate|translateParts|tryTranslate|translateList|done|matchMedia|localStorage\.\w+|.*\.(closest|querySelector))$/;
/** Attributes and properties that users do not read. */
const HIDDEN_PROPERTIES = [
  'class',
  'd',
  'drawn',
  'position',
  'sample',
  'style',
  'transform',
  'viewBox',
  'way',
];
/** Attributes and properties that users read. */
const TEXT_PROPERTIES = [
  "'aria-label'",
  'alt',
  'label',
  'placeholder',
  'says',
  'text',
  'title',
  'why',
];
/** Functions that show a text, with the index of the first argument that may be one. */
const TEXT_FUNCTIONS: Record<string, number> = { h: 2, setText: 1, announce: 0, toast: 0 };
/** Literals that look like a text but are none. */
const NO_TEXT = [
  ...Object.values(LANGUAGES),
  // Names of keys on a keyboard.
  ...['Arrow', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'End', 'Enter', 'Escape', 'Home'],
  // Classes of a button.
  'large search',
  // The scheme of an `Authorization` header.
  'Bearer ',
];

/** Matches several words, a capitalized word, or the end of a sentence. */
const looksLikeText = (text: string) =>
  /\p{L}{2,}[,;:]? +\p{L}/u.test(text) ||
  /^\W*\p{Lu}\p{Ll}/u.test(text) ||
  /\p{L}{2,}[.!?…]$/u.test(text) ||
  /(^| )\p{L}+( |$)/u.test(text.replace(/^\p{L}[\p{L}-]*$/u, ''));

/** Returns the whole expression that a literal is part of, for example a concatenation. */
function outermostExpression(node: Node): Node {
  const { parent } = node;
  const isPart =
    ts.isTemplateSpan(parent) ||
    ts.isTemplateExpression(parent) ||
    ts.isConditionalExpression(parent) ||
    (ts.isBinaryExpression(parent) && /^([+?|&])\1?$/.test(parent.operatorToken.getText()));
  return isPart ? outermostExpression(parent) : node;
}

/** Whether users read a literal at this place of the code; `null` if the place does not say. */
function isTextByPlace(node: Node) {
  const whole = outermostExpression(node);
  const { parent } = whole;
  if (ts.isImportDeclaration(parent) || ts.isCaseClause(parent)) return false;
  // Users do not read compared values and names of properties.
  if (ts.isBinaryExpression(parent)) return parent.operatorToken.getText() === '=' ? null : false;
  if (ts.isPropertyAssignment(parent) && parent.name === whole) return false;
  if (ts.isNewExpression(parent) && parent.expression.getText() === 'Error') return false;
  if (ts.isCallExpression(parent)) {
    const name = parent.expression.getText();
    if (KEY_FUNCTIONS.test(name)) return false;
    const firstText = TEXT_FUNCTIONS[name.split('.').at(-1) ?? ''];
    const at = parent.arguments.findIndex((argument) => argument === whole);
    if (firstText !== undefined && at >= firstText) return true;
  }
  if (!ts.isPropertyAssignment(parent)) return null;
  if (HIDDEN_PROPERTIES.includes(parent.name.getText())) return false;
  return TEXT_PROPERTIES.includes(parent.name.getText()) || null;
}

/** Finds the texts for users in a module. */
function findTexts(name: string, source: string) {
  const found: string[] = [];
  const visit = (node: Node) => {
    const isLiteral = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
    if (isLiteral || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      // The name of the project needs no translation.
      const text = node.text.replaceAll(/plyhouse/gi, '');
      const isText = isTextByPlace(node) ?? looksLikeText(text);
      if (isText && /\p{L}/u.test(text) && !NO_TEXT.includes(text)) found.push(`${name}: ${text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, source, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS));
  return found;
}

test('modules contain no texts for users', () => {
  const found = modules.flatMap((file) => findTexts(file, read(file)));
  assert.deepEqual(found, []);
});

test('texts for users in a module are found', () => {
  for (const source of [
    "h('p', {}, 'won')",
    "h('p', {}, `${count} left`)",
    "setText(line, isOver ? 'over' : '')",
    "const LOST = 'There is no connection.';",
    'app.toast(`Taken back to ${ply}`)',
    "const tags = { title: 'draw' };",
    'line.title = `${count} left`;',
  ]) {
    assert.equal(findTexts('example.ts', source).length, 1, source);
  }
  for (const source of [
    "h('p', { class: 'row end' }, translate('list.turn'))",
    "import './made up.ts'",
  ]) {
    assert.deepEqual(findTexts('example.ts', source), [], source);
  }
});

/** Shown if the modules of the page fail to load, and the locale files with them. */
const UNLOADED = /<div class="unloaded".*?<\/div>\s*<\/div>/s;

test('the message about a failed load is in every language', () => {
  const [message = ''] = UNLOADED.exec(read('index.html')) ?? [];
  const tags = [...message.matchAll(/lang="(\w+)[^>]*>\s*<h1>.+?<\/h1>\s*<a [^>]*>\p{L}/gu)];
  assert.deepEqual(tags.map(([, tag]) => tag).sort(), Object.keys(LANGUAGES).sort());
});

test('index.html and the style sheets contain no texts for users', () => {
  const html = read('index.html');
  // The excluded texts are for search engines and for browsers without scripts.
  const frame = html
    .replace(/<!--.*?-->|<noscript>.*?<\/noscript>|<meta\s+name="description".*?\/>/gs, '')
    .replace(UNLOADED, '');
  const words = frame.replace(/<[^>]*>/g, '').replaceAll('Plyhouse', '');
  assert.doesNotMatch(words, /\p{L}/u);
  assert.doesNotMatch(frame, /(aria-label|title|alt|placeholder)="/);
  for (const file of files.filter((file) => file.endsWith('.css'))) {
    assert.doesNotMatch(read(file), /content: *['"][^'"]*\p{L}/u, file);
  }
});

test('the text keys in index.html exist', () => {
  const texts = textsOf('en');
  const keys = [...read('index.html').matchAll(/data-(?:say|label)="([^"]+)"/g)];
  assert.ok(keys.length > 0);
  for (const [, key = ''] of keys) assert.ok(key in texts, key);
});

/** Sorted names of the placeholders in a text. */
function placeholders(text: Text) {
  const all = Object.values(text)
    .join('')
    .matchAll(/\{(\w+)\}/g);
  const names = new Set([...all].map(([, name]) => name));
  // Only English texts include the server's messages, which are in English. Plural forms may spell
  // out the count.
  return [...names].filter((name) => name !== 'why' && name !== 'count').sort();
}

for (const code of Object.keys(LANGUAGES)) {
  test(`all texts exist and have the placeholders of the English texts: ${code}`, () => {
    const english = textsOf('en');
    const texts = textsOf(code);
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(english).sort());
    for (const [key, text] of Object.entries(texts)) {
      const model = english[key] ?? '';
      assert.equal(Array.isArray(text), Array.isArray(model), key);
      const forms = typeof text === 'string' ? [text] : Object.values(text);
      assert.ok(
        forms.every((form) => form.trim() === form && form !== ''),
        key,
      );
      assert.deepEqual(placeholders(text), placeholders(model), key);
      if (typeof text === 'string' || Array.isArray(text)) continue;
      const { pluralCategories } = new Intl.PluralRules(code).resolvedOptions();
      assert.ok('other' in text, key);
      // The language must have these plural forms.
      for (const form of Object.keys(text)) assert.ok(pluralCategories.includes(form as any), key);
    }
  });
}

test('the accessible name of a bar button contains its visible label', () => {
  for (const code of Object.keys(LANGUAGES)) {
    const texts = textsOf(code);
    for (const [key, text] of Object.entries(texts)) {
      const name = texts[key.slice(0, -'.short'.length)];
      if (!key.startsWith('bar.') || !key.endsWith('.short')) continue;
      // Users of speech input say the visible label.
      const segmenter = new Intl.Segmenter(code, { granularity: 'word' });
      const splitWords = (label: Text | undefined) =>
        [...segmenter.segment(String(label).toLowerCase())].map(({ segment }) => segment).join('|');
      assert.ok(`|${splitWords(name)}|`.includes(`|${splitWords(text)}|`), `${code}: ${key}`);
    }
  }
});

test('locale files, boot.ts and the language menu have the same languages', () => {
  const localeFiles = readdirSync(join(pageDir, 'locales')).map((file) => basename(file, '.json'));
  const bootLanguages = [...read('app/boot.ts').matchAll(/^ {4}\['(\w+)', \[/gm)].map(
    ([, code]) => code,
  );
  assert.deepEqual(localeFiles.sort(), Object.keys(LANGUAGES).sort());
  assert.deepEqual(bootLanguages.sort(), Object.keys(LANGUAGES).sort());
});

test('the initial chunks use no texts of the lazy part', () => {
  const [initial = {}, lazy = {}] = parts('en');
  // The chunks that are loaded before the texts of the part `lazy`.
  const code = ['main', 'lobby', 'match'].map((chunk) => read(`../built/${chunk}.js`)).join('\n');
  for (const key of Object.keys(lazy)) {
    assert.ok(!(key in initial), key);
    assert.ok(!code.includes(`"${key}"`), key);
  }
});

test('every error code of the server has a text', () => {
  const schema = readFileSync(new URL('../../src/protocol/error.rs', import.meta.url), 'utf8');
  const codes = [...schema.matchAll(/^ {4}\w+ = "(\w+)",$/gm)].map(([, code]) => code);
  assert.ok(codes.length > 20);
  const texts = textsOf('en');
  for (const code of codes) assert.ok(`refusal.${code}` in texts, `no text for ${code}`);
});

test('every text is used', () => {
  const all = modules.map(read).join('\n') + read('index.html');
  // Template strings build keys with such a prefix and suffix, for example `ended.${reason}`.
  const templates = [...all.matchAll(/`([\w.-]*)\$\{[^}]*\}([\w.-]*)`/g)]
    .filter(([, prefix = '', suffix = '']) => prefix.includes('.') || suffix.startsWith('.'))
    .map(([, prefix = '', suffix = '']) => ({ prefix, suffix }));
  const isUsed = (key: string) =>
    all.includes(`'${key}'`) ||
    all.includes(`"${key}"`) ||
    templates.some(({ prefix, suffix }) => key.startsWith(prefix) && key.endsWith(suffix));
  const unused = Object.keys(textsOf('en')).filter((key) => !isUsed(key));
  assert.deepEqual(unused, []);
});
