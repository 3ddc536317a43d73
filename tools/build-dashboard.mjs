// Builds the dashboard into dist/dashboard: types from docs/openapi.json, Vite's build, compressed twins, budgets. Does
// nothing where no source differs from the last build. Plain JavaScript, because it is part of the build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { packageEnvironment, packageNode, root } from './bootstrap.mjs';

const app = join(root, 'apps', 'dashboard');
const out = join(root, 'dist', 'dashboard');
const stamp = join(out, '.built-from');
const openapi = join(root, 'docs', 'openapi.json');
const schema = join(app, 'src', 'api', 'generated', 'schema.ts');

/** Bytes after gzip. What the first page needs, and what any other part may add. */
const BUDGETS = { initialJs: 200_000, initialCss: 45_000, part: 140_000 };
const COMPRESSED_BYTES_MIN = 512;
const COMPRESSED = /\.(?:css|html|js|json|svg)$/;

const sources = fingerprint();
if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) process.exit(0);
rmSync(stamp, { force: true });
mkdirSync(join(schema, '..'), { recursive: true });
run(['node_modules/openapi-typescript/bin/cli.js', openapi, '-o', schema]);
run([
  'node_modules/vite/bin/vite.js',
  'build',
  app,
  '--config',
  join(app, 'vite.config.ts'),
  '--logLevel',
  'warn',
]);
for (const file of files(out)) if (COMPRESSED.test(file)) compress(file);
checkBudgets();
writeFileSync(stamp, sources);

function run(args) {
  const options = { cwd: root, env: packageEnvironment(), encoding: 'utf8' };
  const { status, stdout, stderr } = spawnSync(packageNode, args, options);
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(status || 1);
}

function fingerprint() {
  const hash = createHash('sha256');
  const read = [openapi, join(root, 'package-lock.json'), join(root, 'tools', 'build-dashboard.mjs')];
  const own = files(app).filter((file) => !/\.spec\.tsx?$|[\\/]generated[\\/]/.test(file));
  for (const file of [...read, ...own]) hash.update(file).update('\0').update(readFileSync(file));
  return hash.digest('hex');
}

function files(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function compress(file) {
  const plain = readFileSync(file);
  if (plain.length < COMPRESSED_BYTES_MIN) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  writeFileSync(`${file}.br`, brotliCompressSync(plain, { params }));
  writeFileSync(`${file}.gz`, gzipSync(plain, { level: 9 }));
}

function checkBudgets() {
  const parts = JSON.parse(readFileSync(join(out, '.vite', 'manifest.json'), 'utf8'));
  const entry = Object.keys(parts).find((name) => parts[name].isEntry);
  const initial = new Set();
  const visit = (name) => {
    if (initial.has(name)) return;
    initial.add(name);
    (parts[name].imports ?? []).forEach(visit);
  };
  visit(entry);
  const all = Object.entries(parts);
  const sum = (pick) =>
    [...new Set([...initial].flatMap((name) => pick(parts[name])))].reduce(
      (total, file) => total + zipped(file),
      0,
    );
  const measured = [
    ['initial JavaScript', sum(({ file }) => [file]), BUDGETS.initialJs],
    ['initial CSS', sum(({ css = [] }) => css), BUDGETS.initialCss],
    ...all
      .filter(([name, { file }]) => !initial.has(name) && file.endsWith('.js'))
      .map(([name, { file }]) => [name, zipped(file), BUDGETS.part]),
  ];
  const over = measured.filter(([, bytes, budget]) => bytes > budget);
  for (const [name, bytes, budget] of over)
    process.stderr.write(`The dashboard's ${name} has ${bytes} bytes after gzip, its budget is ${budget}.\n`);
  if (process.argv.includes('--sizes'))
    for (const [name, bytes] of measured) process.stdout.write(`${String(bytes).padStart(8)}  ${name}\n`);
  if (over.length > 0) process.exit(1);
}

function zipped(file) {
  return gzipSync(readFileSync(join(out, file)), { level: 9 }).length;
}
