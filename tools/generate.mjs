// Generates the Prisma client of every service whose schema changed since the last run, or of those whose folders are
// named. Plain JavaScript, because the build needs the generated sources first.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageNode, root } from './bootstrap.mjs';

const prisma = join(root, 'node_modules', 'prisma', 'build', 'index.js');
const version = JSON.parse(
  readFileSync(join(root, 'node_modules', 'prisma', 'package.json'), 'utf8'),
).version;

const named = process.argv.slice(2);
const services = readdirSync(join(root, 'libs', 'services')).map((service) =>
  join('libs', 'services', service),
);
const schemas = (named.length > 0 ? named : services)
  .map((service) => join(root, service, 'prisma', 'schema.prisma'))
  .filter((schema) => existsSync(schema));
const failed = (await Promise.all(schemas.map(generate))).filter((schema) => schema !== undefined);
for (const { schema, output } of failed)
  process.stderr.write(`prisma generate failed for ${schema}\n${output}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function generate(schema) {
  const target = join(dirname(schema), '..', 'src', 'generated', 'prisma');
  const stamp = join(target, '.generated-from');
  const source = createHash('sha256').update(version).update(readFileSync(schema)).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === source) return undefined;
  rmSync(target, { recursive: true, force: true });
  const { status, output } = await runPrisma(['generate', '--schema', schema]);
  if (status !== 0) return { schema, output };
  writeFileSync(stamp, source);
  process.stderr.write(`generated ${target.slice(root.length)}\n`);
  return undefined;
}

// Generating needs no engine, but Prisma would download one unless it is told of a program in its place.
function runPrisma(args) {
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', PRISMA_HIDE_UPDATE_MESSAGE: '1' };
  const child = spawn(packageNode, [prisma, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: 1, output: String(error) }));
    child.on('close', (status) => resolve({ status, output }));
  });
}
