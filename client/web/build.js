// Makes of the page what the binary carries: the same, in a few small files. `npm run --prefix client/web build`
// writes it to `client/web/built`, which is committed: who builds the server needs none of this.

import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build, transform } from 'esbuild';
import { rollup } from 'rollup';

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, 'page');
/** In words that the browsers understand that the page is written for. @type {{ minify: boolean, target: string, charset: 'utf8' }} */
const SMALL = { minify: true, target: 'es2022', charset: 'utf8' };
/** Each has what those before it do not have: what is seen first, where one chooses, where one plays, and what is seldom wanted. */
const PARTS = ['main', 'lobby', 'room', 'seldom'];
/** Parts of a file in `locales`. */
const TEXT_PARTS = ['initial', 'lazy'];
/** Neither loads the other: what both need comes with the first. */
const APART = ['lobby', 'room'];

/** @param {string} out where it is written; what is there is gone */
export async function buildPage(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await buildModules(out);
  await build({
    ...{ entryPoints: ['page.css', 'seldom.css'], absWorkingDir: page, outdir: out },
    ...{ bundle: true, ...SMALL, logLevel: 'warning' },
  });
  await build({
    ...{ entryPoints: ['alone.ts'], absWorkingDir: page, outdir: out, format: 'esm' },
    ...{ bundle: true, ...SMALL, logLevel: 'warning' },
  });
  await writeFile(join(out, 'early.js'), await compile(await source('early.ts'), SMALL));
  await buildTexts(out);
  const files = await readdir(page, { recursive: true });
  for (const file of files) {
    if (/\.(png|svg|wasm|webmanifest)$/.test(file)) await cp(join(page, file), join(out, file));
  }
  const frame = await readFile(join(page, 'index.html'), 'utf8');
  await writeFile(join(out, 'index.html'), framed(frame));
  await buildServiceWorker(out);
}

/** It knows all files but those that only an installed page needs. @param {string} out */
async function buildServiceWorker(out) {
  const files = await readdir(out, { recursive: true });
  const kept = files.filter((file) => /\.(css|js|svg|wasm)$/.test(file)).sort();
  const define = { KEPT_FILES: JSON.stringify(kept.map((file) => file.replaceAll('\\', '/'))) };
  const code = await compile(await source('service-worker.ts'), { ...SMALL, define });
  await writeFile(join(out, 'service-worker.js'), code);
}

/** @param {string} out */
async function buildModules(out) {
  const bundle = await rollup({
    input: join(page, 'main.ts'),
    plugins: [{ name: 'typescript', resolveId: packageFile, transform: (code) => compile(code) }],
    preserveEntrySignatures: 'allow-extension',
  });
  const { output } = await bundle.generate({
    ...{ format: 'es', chunkFileNames: '[name].js' },
    // What the first part needs comes with it, whoever else needs it, and so on: four files, and no more.
    manualChunks: partOf,
  });
  for (const part of output) {
    if (part.type !== 'chunk') throw new Error(`${part.fileName} is no module`);
    const { code } = await transform(part.code, { ...SMALL, format: 'esm' });
    await writeFile(join(out, part.fileName), code);
  }
  const parts = output.map(({ fileName }) => fileName).sort();
  if (
    parts.join() !==
    PARTS.map((part) => `${part}.js`)
      .sort()
      .join()
  ) {
    throw new Error(`other files than are meant: ${parts.join(' ')}`);
  }
}

/** @param {string} id */
function packageFile(id) {
  const isPackage = /^[a-z]/.test(id);
  return isPackage ? fileURLToPath(import.meta.resolve(id)) : null;
}

/** @type {import('rollup').GetManualChunk} */
function partOf(id, { getModuleInfo }) {
  const isNeeded = (/** @type {string} */ part) =>
    needs(join(page, `${part}.ts`), getModuleInfo).has(id);
  const part = APART.every(isNeeded) ? PARTS[0] : PARTS.find(isNeeded);
  if (!part) throw new Error(`nothing needs ${id}`);
  return part;
}

/** All that a module needs at once. @param {string} id @param {import('rollup').GetModuleInfo} getModuleInfo */
function needs(id, getModuleInfo) {
  const all = new Set([id]);
  for (const module of all) {
    for (const needed of getModuleInfo(module)?.importedIds ?? []) all.add(needed);
  }
  return all;
}

/** @param {string} file */
const source = (file) => readFile(join(page, file), 'utf8');

/** @param {string} code @param {import('esbuild').TransformOptions} [options] */
export const compile = async (code, options) =>
  (await transform(code, { loader: 'ts', ...options })).code;

/** The texts of each language as two modules, since a page loads the second one only if it needs it. @param {string} out */
async function buildTexts(out) {
  for (const part of TEXT_PARTS) {
    await mkdir(join(out, 'locales', part), { recursive: true });
    for (const file of await readdir(join(page, 'locales'))) {
      const language = basename(file, '.json');
      const code = await compile(await textsModule(language, part), SMALL);
      await writeFile(join(out, 'locales', part, `${language}.js`), code);
    }
  }
}

/** @param {string} language @param {string} part */
export async function textsModule(language, part) {
  const texts = JSON.parse(await source(join('locales', `${language}.json`)));
  return `export default ${JSON.stringify(texts[part])};`;
}

/** The frame, without what makes it fit to be read. @param {string} html */
const framed = (html) => html.replace(/<!--.*?-->/gs, '').replace(/\n\s+/g, '\n');

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage(join(here, 'built'));
