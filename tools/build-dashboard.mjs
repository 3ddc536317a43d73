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
run(['tools/dashboard-budgets.mjs', out, ...process.argv.slice(2)], 'inherit');
writeFileSync(stamp, sources);

function run(args, stdio = 'pipe') {
  const options = { cwd: root, env: packageEnvironment(), encoding: 'utf8', stdio };
  const { status, stdout, stderr } = spawnSync(packageNode, args, options);
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
  process.exit(status || 1);
}

function fingerprint() {
  const hash = createHash('sha256');
  const tools = ['build-dashboard.mjs', 'dashboard-budgets.mjs'].map((name) => join(root, 'tools', name));
  const read = [openapi, join(root, 'package-lock.json'), ...tools];
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
