// Every text of the page stands in the language files, and in each of them.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { LANGUAGES } from '../../client/web/page/text/language.ts';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const ts: typeof import('typescript') = require('typescript');

import type { Node } from 'typescript';
export type Text = string | string[] | Record<string, string>;

const page = fileURLToPath(new URL('../../client/web/page', import.meta.url));
const files = readdirSync(page, { recursive: true, encoding: 'utf8' });
/** Languages are where texts belong; nobody reads what others have written; and products are called alike everywhere. */
const ELSEWHERE = /^ui.device-name\.ts/;
const modules = files.filter((file) => file.endsWith('.ts') && !ELSEWHERE.test(file));

const read = (file: string) => readFileSync(join(page, file), 'utf8');

/** What is said at once, and what in views that come later. */
const parts = (code: string): Record<string, Text>[] =>
  Object.values(JSON.parse(read(`locales/${code}.json`)));

const textsOf = (code: string): Record<string, Text> => Object.assign({}, ...parts(code));

/** What is called with something that nobody reads: keys of texts, selectors, questions to the browser. */
const UNREAD_BY =
  /^(translate|translateParts|tryTranslate|translateList|done|matchMedia|localStorage\.\w+|.*\.(closest|querySelector))$/;
/** Attributes and properties whose text nobody reads. */
const UNREAD = [
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
/** Those that are read. */
const READ = ["'aria-label'", 'alt', 'label', 'placeholder', 'says', 'text', 'title', 'why'];
/** What takes a text that is read, and at which place. */
const TAKES: Record<string, number> = { h: 2, setText: 1, announce: 0, toast: 0 };
/** What looks like a text to be read, and is none. */
const NO_TEXT = [
  ...Object.values(LANGUAGES),
  // What keyboards and browsers call things.
  ...['Arrow', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'End', 'Enter', 'Escape', 'Home'],
  // Classes of a button.
  'large search',
  // How a token is sent.
  'Bearer ',
];

/** Whether people would read it: words apart, a capital and small letters, or the end of a sentence. */
const looksRead = (text: string) =>
  /\p{L}{2,}[,;:]? +\p{L}/u.test(text) ||
  /^\W*\p{Lu}\p{Ll}/u.test(text) ||
  /\p{L}{2,}[.!?…]$/u.test(text) ||
  /(^| )\p{L}+( |$)/u.test(text.replace(/^\p{L}[\p{L}-]*$/u, ''));

/** What a literal belongs to, and where it stands there. */
function outermost(node: Node): Node {
  const { parent } = node;
  const isPart =
    ts.isTemplateSpan(parent) ||
    ts.isTemplateExpression(parent) ||
    ts.isConditionalExpression(parent) ||
    (ts.isBinaryExpression(parent) && /^([+?|&])\1?$/.test(parent.operatorToken.getText()));
  return isPart ? outermost(parent) : node;
}

/** Whether a literal is read, by where it stands; `null` where that tells nothing. */
function isRead(node: Node) {
  const whole = outermost(node);
  const { parent } = whole;
  if (ts.isImportDeclaration(parent) || ts.isCaseClause(parent)) return false;
  // What is compared with something, or is the name of a property.
  if (ts.isBinaryExpression(parent)) return parent.operatorToken.getText() === '=' ? null : false;
  if (ts.isPropertyAssignment(parent) && parent.name === whole) return false;
  if (ts.isNewExpression(parent) && parent.expression.getText() === 'Error') return false;
  if (ts.isCallExpression(parent)) {
    const name = parent.expression.getText();
    if (UNREAD_BY.test(name)) return false;
    const takes = TAKES[name.split('.').at(-1) ?? ''];
    const at = parent.arguments.findIndex((argument) => argument === whole);
    if (takes !== undefined && at >= takes) return true;
  }
  if (!ts.isPropertyAssignment(parent)) return null;
  if (UNREAD.includes(parent.name.getText())) return false;
  return READ.includes(parent.name.getText()) || null;
}

/** Every text in a module that people would read. */
function textsIn(name: string, source: string) {
  const found: string[] = [];
  const visit = (node: Node) => {
    const isLiteral = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
    if (isLiteral || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      // The name of the house is the same in every language.
      const text = node.text.replaceAll(/plyhouse/gi, '');
      const read = isRead(node) ?? looksRead(text);
      if (read && /\p{L}/u.test(text) && !NO_TEXT.includes(text)) found.push(`${name}: ${text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, source, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS));
  return found;
}

test('no module has a text of its own', () => {
  const found = modules.flatMap((file) => textsIn(file, read(file)));
  assert.deepEqual(found, []);
});

test('a text in a module would be found', () => {
  for (const source of [
    "h('p', {}, 'won')",
    "h('p', {}, `${count} left`)",
    "setText(line, isOver ? 'over' : '')",
    "const LOST = 'There is no connection.';",
    'app.toast(`Taken back to ${ply}`)',
    "const tags = { title: 'draw' };",
    'line.title = `${count} left`;',
  ]) {
    assert.equal(textsIn('made', source).length, 1, source);
  }
  for (const source of [
    "h('p', { class: 'row end' }, translate('list.turn'))",
    "import './made up.ts'",
  ]) {
    assert.deepEqual(textsIn('made', source), [], source);
  }
});

/** What is read where the page does not come, and so none of its languages. */
const UNLOADED = /<div class="unloaded".*?<\/div>\s*<\/div>/s;

test('that the page has not come is said in each language', () => {
  const [said = ''] = UNLOADED.exec(read('index.html')) ?? [];
  const tags = [...said.matchAll(/lang="(\w+)[^>]*>\s*<h1>.+?<\/h1>\s*<a [^>]*>\p{L}/gu)];
  assert.deepEqual(tags.map(([, tag]) => tag).sort(), Object.keys(LANGUAGES).sort());
});

test('the frame of the page and its styles have no text of their own', () => {
  const html = read('index.html');
  // What is read where no script runs: by search engines, and by whoever allows none.
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

test('what the frame asks for is there', () => {
  const texts = textsOf('en');
  const keys = [...read('index.html').matchAll(/data-(?:say|label)="([^"]+)"/g)];
  assert.ok(keys.length > 0);
  for (const [, key = ''] of keys) assert.ok(key in texts, key);
});

/** What is filled in, wherever it stands. */
const filled = (text: Text) =>
  [
    ...new Set(
      [
        ...Object.values(text)
          .join('')
          .matchAll(/\{(\w+)\}/g),
      ].map(([, name]) => name),
    ),
  ]
    // The server's own words are English: only English texts take them over. A form may have its number in words.
    .filter((name) => name !== 'why' && name !== 'count')
    .sort();

for (const code of Object.keys(LANGUAGES)) {
  test(`every text is there, and is filled in alike: ${code}`, () => {
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
      assert.deepEqual(filled([forms.join('')]), filled([Object.values(model).join('')]), key);
      // Another form is one that this language has.
      if (typeof text === 'string' || Array.isArray(text)) continue;
      const { pluralCategories } = new Intl.PluralRules(code).resolvedOptions();
      assert.ok('other' in text, key);
      for (const form of Object.keys(text)) assert.ok(pluralCategories.includes(form as any), key);
    }
  });
}

test('what a button is called begins with, or has, what stands on it', () => {
  for (const code of Object.keys(LANGUAGES)) {
    const texts = textsOf(code);
    for (const [key, text] of Object.entries(texts)) {
      const name = texts[key.slice(0, -'.short'.length)];
      if (!key.startsWith('bar.') || !key.endsWith('.short')) continue;
      // Whoever speaks to the page says what they see.
      const words = new Intl.Segmenter(code, { granularity: 'word' });
      const apart = (said: Text | undefined) =>
        [...words.segment(String(said).toLowerCase())].map(({ segment }) => segment).join('|');
      assert.ok(`|${apart(name)}|`.includes(`|${apart(text)}|`), `${code}: ${key}`);
    }
  }
});

test('the page offers the languages that there are', () => {
  const written = readdirSync(join(page, 'locales')).map((file) => basename(file, '.json'));
  const chosen = [...read('app/boot.ts').matchAll(/^ {4}\['(\w+)', \[/gm)].map(([, code]) => code);
  assert.deepEqual(written.sort(), Object.keys(LANGUAGES).sort());
  assert.deepEqual(chosen.sort(), Object.keys(LANGUAGES).sort());
});

test('what is said at once is there at once', () => {
  const [initial = {}, lazy = {}] = parts('en');
  // The chunks that are loaded before the texts of the part `lazy`.
  const code = ['main', 'lobby', 'match'].map((chunk) => read(`../built/${chunk}.js`)).join('\n');
  for (const key of Object.keys(lazy)) {
    assert.ok(!(key in initial), key);
    assert.ok(!code.includes(`"${key}"`), key);
  }
});

test('every refusal of the server has a text', () => {
  const schema = readFileSync(new URL('../../src/protocol/error.rs', import.meta.url), 'utf8');
  const codes = [...schema.matchAll(/^ {4}\w+ = "(\w+)",$/gm)].map(([, code]) => code);
  assert.ok(codes.length > 20);
  const texts = textsOf('en');
  for (const code of codes) assert.ok(`refusal.${code}` in texts, `no text for ${code}`);
});

test('every text is used', () => {
  const all = modules.map(read).join('\n') + read('index.html');
  // Keys that are put together, by how they begin and end: `ended.${what}`.
  const made = [...all.matchAll(/`([\w.-]*)\$\{[^}]*\}([\w.-]*)`/g)]
    .filter(([, begin = '', end = '']) => begin.includes('.') || end.startsWith('.'))
    .map(([, begin = '', end = '']) => ({ begin, end }));
  const isUsed = (key: string) =>
    all.includes(`'${key}'`) ||
    all.includes(`"${key}"`) ||
    made.some(({ begin, end }) => key.startsWith(begin) && key.endsWith(end));
  const unused = Object.keys(textsOf('en')).filter((key) => !isUsed(key));
  assert.deepEqual(unused, []);
});
