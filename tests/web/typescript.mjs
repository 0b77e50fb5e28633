// Module hooks that let Node.js import TypeScript and the text modules of the page. They are
// installed by `node --import ./tests/web/typescript.mjs`.

import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

import { compile, textsModule } from '../../client/web/build.js';

if (isMainThread) {
  process.setSourceMapsEnabled(true);
  register(import.meta.url);
}

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const path = /\/locales\/\w+\/\w+\.js$/.exec(specifier)?.[0];
  return path ? { url: `plyhouse:${path}`, shortCircuit: true } : next(specifier, context);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  const [, part, language] = /^plyhouse:\/locales\/(\w+)\/(\w+)\.js$/.exec(url) ?? [];
  if (part && language) {
    return { format: 'module', shortCircuit: true, source: await textsModule(language, part) };
  }
  if (!/\.m?ts$/.test(url)) return next(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  return {
    format: 'module',
    shortCircuit: true,
    source: await compile(source, { sourcemap: 'inline', sourcefile: url }),
  };
}
