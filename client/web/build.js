// Builds the page. `npm run --prefix client/web build` writes it to `client/web/built`. That folder is committed, so
// that building the server requires no Node.js.

import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build, transform } from 'esbuild';
import { rollup } from 'rollup';

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, 'page');
/** The syntax of the oldest supported browsers. @type {{ minify: boolean, target: string, charset: 'utf8' }} */
const OUTPUT = { minify: true, target: 'es2022', charset: 'utf8' };
/** The entry module of each chunk. A module belongs to the first chunk that imports it. */
const CHUNKS = {
  main: 'app/main.ts',
  lobby: 'lobby/lobby.ts',
  match: 'match/match-page.ts',
  lazy: 'app/lazy-bundle.ts',
};
/** Chunks that must not import each other: the modules that both import belong to the chunk `main`. */
const INDEPENDENT_CHUNKS = /** @type {const} */ (['lobby', 'match']);
/** Style sheets and the worker, each bundled to a file of its own. */
const BUNDLES = {
  page: 'app/initial-bundle.css',
  lazy: 'app/lazy-bundle.css',
  offline: 'offline/local-server-worker.ts',
};
/** Parts of a file in `locales`. */
const TEXT_PARTS = ['initial', 'lazy'];

/** @param {string} out the output folder, which is deleted first */
export async function buildPage(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await buildChunks(out);
  await build({
    ...{ entryPoints: BUNDLES, absWorkingDir: page, outdir: out, format: 'esm' },
    ...{ bundle: true, ...OUTPUT, logLevel: 'warning' },
  });
  await writeFile(join(out, 'boot.js'), await compile(await source('app/boot.ts'), OUTPUT));
  await buildTexts(out);
  const files = await readdir(page, { recursive: true });
  for (const file of files) {
    if (/\.(png|svg|wasm|webmanifest)$/.test(file)) {
      await cp(join(page, file), join(out, basename(file)));
    }
  }
  await writeFile(join(out, 'index.html'), minifyHtml(await source('index.html')));
  await buildServiceWorker(out);
}

/** The service worker caches all files except those that only installing the page requires. @param {string} out */
async function buildServiceWorker(out) {
  const files = await readdir(out, { recursive: true });
  const kept = files.filter((file) => /\.(css|js|svg|wasm)$/.test(file)).sort();
  const define = { KEPT_FILES: JSON.stringify(kept.map((file) => file.replaceAll('\\', '/'))) };
  const code = await compile(await source('offline/service-worker.ts'), { ...OUTPUT, define });
  await writeFile(join(out, 'service-worker.js'), code);
}

/** @param {string} out */
async function buildChunks(out) {
  const bundle = await rollup({
    input: join(page, CHUNKS.main),
    plugins: [typescript],
    preserveEntrySignatures: 'allow-extension',
  });
  const { output } = await bundle.generate({
    ...{ format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    manualChunks: chunkOf,
  });
  for (const chunk of output) {
    if (chunk.type !== 'chunk') throw new Error(`${chunk.fileName} is not a module`);
    const { code } = await transform(chunk.code, { ...OUTPUT, format: 'esm' });
    await writeFile(join(out, chunk.fileName), code);
  }
  const names = output.map(({ fileName }) => basename(fileName, '.js')).sort();
  const expected = Object.keys(CHUNKS).sort();
  if (names.join() !== expected.join()) throw new Error(`unexpected chunks: ${names.join(' ')}`);
}

/** Compiles TypeScript and finds the files of packages. @type {import('rollup').Plugin} */
export const typescript = {
  name: 'typescript',
  resolveId: packageFile,
  transform: (code) => compile(code),
};

/** @param {string} id */
function packageFile(id) {
  const isPackage = /^[a-z]/.test(id);
  return isPackage ? fileURLToPath(import.meta.resolve(id)) : null;
}

/** @type {import('rollup').GetManualChunk} */
function chunkOf(id, { getModuleInfo }) {
  const isImportedBy = (/** @type {string} */ entry) =>
    staticImports(join(page, entry), getModuleInfo).has(id);
  if (INDEPENDENT_CHUNKS.every((name) => isImportedBy(CHUNKS[name]))) return 'main';
  const chunk = Object.entries(CHUNKS).find(([, entry]) => isImportedBy(entry));
  if (!chunk) throw new Error(`no chunk imports ${id}`);
  return chunk[0];
}

/**
 * A module and all modules that it imports statically, also indirectly.
 * @param {string} id
 * @param {import('rollup').GetModuleInfo} getModuleInfo
 */
function staticImports(id, getModuleInfo) {
  const all = new Set([id]);
  for (const module of all) {
    for (const imported of getModuleInfo(module)?.importedIds ?? []) all.add(imported);
  }
  return all;
}

/** @param {string} file */
const source = (file) => readFile(join(page, file), 'utf8');

/** @param {string} code @param {import('esbuild').TransformOptions} [options] */
export const compile = async (code, options) =>
  (await transform(code, { loader: 'ts', ...options })).code;

/** @param {string} out */
async function buildTexts(out) {
  for (const part of TEXT_PARTS) {
    await mkdir(join(out, 'locales', part), { recursive: true });
    for (const file of await readdir(join(page, 'locales'))) {
      const language = basename(file, '.json');
      const code = await compile(await textsModule(language, part), OUTPUT);
      await writeFile(join(out, 'locales', part, `${language}.js`), code);
    }
  }
}

/** A module that exports one part of a language's texts. @param {string} language @param {string} part */
export async function textsModule(language, part) {
  const texts = JSON.parse(await source(join('locales', `${language}.json`)));
  return `export default ${JSON.stringify(texts[part])};`;
}

/** @param {string} html */
const minifyHtml = (html) => html.replace(/<!--.*?-->/gs, '').replace(/\n\s+/g, '\n');

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage(join(here, 'built'));
