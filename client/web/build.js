// Makes of the page what the binary carries: the same, in a few small files. `npm run --prefix client/web build`
// writes it to `client/web/built`, which is committed: who builds the server needs none of this.

import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build, transform } from 'esbuild';
import { rollup } from 'rollup';

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, 'page');
/** In words that the browsers understand that the page is written for. @type {{ minify: boolean, target: string, charset: 'utf8' }} */
const SMALL = { minify: true, target: 'es2022', charset: 'utf8' };
/** Each has what those before it do not have: what is seen first, where one chooses, where one plays, and what is seldom wanted. */
const PARTS = ['main', 'lobby', 'room', 'seldom'];
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
    ...{ entryPoints: ['alone.js'], absWorkingDir: page, outdir: out, format: 'esm' },
    ...{ bundle: true, ...SMALL, logLevel: 'warning' },
  });
  const files = await readdir(page, { recursive: true });
  for (const file of files) {
    const isScript = /^(early|languages.*)\.js$/.test(file);
    if (isScript) await minify(file, out);
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
  const source = await readFile(join(page, 'service-worker.js'), 'utf8');
  const define = { KEPT_FILES: JSON.stringify(kept.map((file) => file.replaceAll('\\', '/'))) };
  const { code } = await transform(source, { ...SMALL, define });
  await writeFile(join(out, 'service-worker.js'), code);
}

/** @param {string} out */
async function buildModules(out) {
  const bundle = await rollup({
    input: join(page, 'main.js'),
    // Of them one is loaded, and none is known before.
    external: (id) => /\/languages\//.test(id),
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

/** @type {import('rollup').GetManualChunk} */
function partOf(id, { getModuleInfo }) {
  const isNeeded = (/** @type {string} */ part) =>
    needs(join(page, `${part}.js`), getModuleInfo).has(id);
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

/** @param {string} file @param {string} out */
async function minify(file, out) {
  const source = await readFile(join(page, file), 'utf8');
  const { code } = await transform(source, SMALL);
  await mkdir(dirname(join(out, file)), { recursive: true });
  await writeFile(join(out, file), code);
}

/** The frame, without what makes it fit to be read. @param {string} html */
const framed = (html) => html.replace(/<!--.*?-->/gs, '').replace(/\n\s+/g, '\n');

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage(join(here, 'built'));
