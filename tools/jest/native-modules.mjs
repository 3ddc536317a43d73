// Node's own module loader for the TypeScript of specs: each module is transformed once and evaluated once in a worker.
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(ROOT, '.cache/native-modules');
const swcrc = JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8'));
const options = { ...swcrc, swcrc: false, cwd: ROOT, sourceMaps: true, jsc: { ...swcrc.jsc, baseUrl: ROOT } };
const salt = JSON.stringify(options);

/** Files of tests, which keep counts and register hooks: each spec file evaluates them anew, and all other modules once. */
const OF_ONE_RUN = /\.(spec|fixture)\.ts$|\/libs\/testing\/src\//;

/** Source maps by the address of a module: what Jest's stack traces read. */
export const sourceMaps = new Map();

/** Globals of the spec that runs, by name: what `@jest/globals` exports to it. */
export const globals = Symbol.for('gateway.jest.globals');

mkdirSync(CACHE, { recursive: true });
registerHooks({ resolve, load });

function resolve(specifier, context, nextResolve) {
  const parent = context.parentURL;
  if (!parent?.startsWith('file:') || !URL.parse(parent).pathname.endsWith('.ts'))
    return nextResolve(specifier, context);
  const { search } = new URL(parent);
  if (specifier === '@jest/globals')
    return { url: `jest:globals${search}`, format: 'module', shortCircuit: true };
  if (!/^\.{1,2}\/.*\.js$/.test(specifier)) return nextResolve(specifier, context);
  const source = new URL(specifier.replace(/\.js$/, '.ts'), parent);
  if (!existsSync(fileURLToPath(source))) return nextResolve(specifier, context);
  if (OF_ONE_RUN.test(source.pathname)) source.search = search;
  return { url: source.href, format: 'module', shortCircuit: true };
}

function load(url, context, nextLoad) {
  if (url.startsWith('jest:globals'))
    return { format: 'module', source: globalsSource(), shortCircuit: true };
  const { protocol, pathname } = new URL(url);
  if (protocol !== 'file:' || !pathname.endsWith('.ts') || pathname.includes('/node_modules/'))
    return nextLoad(url, context);
  const { code, map } = transformed(fileURLToPath(url));
  sourceMaps.set(url, map);
  return { format: 'module', source: code, shortCircuit: true };
}

/** Returns a module that exports the globals of the spec that runs. */
function globalsSource() {
  const names = Object.keys(globalThis[globals]);
  return `export const { ${names.join(', ')} } = globalThis[Symbol.for('gateway.jest.globals')];`;
}

/** Returns the JavaScript of a file, and the path of its source map. */
function transformed(path) {
  const text = readFileSync(path, 'utf8');
  const key = createHash('sha256').update(salt).update(path).update('\0').update(text).digest('hex');
  const file = join(CACHE, `${key}.mjs`);
  const map = `${file}.map`;
  if (existsSync(file)) return { code: readFileSync(file, 'utf8'), map };
  const result = transformSync(text, { ...options, filename: path });
  write(map, result.map);
  write(file, result.code);
  return { code: result.code, map };
}

/** Writes a file whole: another worker may write the same one. */
function write(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
