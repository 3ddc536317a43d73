// `npm run mutants -- --lib X [--sample N] [--seed S]`: turns one token of a lib's source at a time and runs the lib's own
// specs. Exit code 0: at least 85 % of the mutants that are not equivalent were noticed; 1: fewer; 2: it could not be said.
import { globSync, readFileSync } from 'node:fs';
import { readFlags } from '@gateway/platform/flags';
import { SystemClock } from '@gateway/platform/time';
import { changeOf, isEquivalent, readEquivalents } from './equivalents.js';
import { LEFT_ALONE, LIBS } from './libs.js';
import type { Mutant } from './mutants-of.js';
import { sample } from './sample.js';

const USAGE = `usage: npm run mutants -- --lib ${Object.keys(LIBS).join('|')} [--sample N] [--seed S] [--limit SECONDS] [--file PART]
`;
const NEEDED = 0.85;

interface SpawnGuard {
  spawnGuard: () => { folder: string; guard: unknown };
  endGuard: (guard: unknown) => Promise<void>;
}

const { values: flags } = readFlags(USAGE, {
  lib: { type: 'string' },
  sample: { type: 'string', default: '80' },
  seed: { type: 'string', default: '1' },
  limit: { type: 'string', default: '90' },
  file: { type: 'string', default: '' },
});

// After the flags: what it loads takes most of a second.
const { repository } = await import('@gateway/testing/plain');
const { mutantsOf } = await import('./mutants-of.js');
const { MutantRunner } = await import('./runner.js');
const { TypeCheck } = await import('./type-check.js');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function show(mutant: Mutant): string {
  return `${mutant.file}:${mutant.line}  ${changeOf(mutant)}`;
}

async function servers(): Promise<() => Promise<void>> {
  const { spawnGuard, endGuard } = (await import(`${repository}/tools/infra/spawn-guard.mjs`)) as SpawnGuard;
  const { folder, guard } = spawnGuard();
  process.env.GATEWAY_INFRA_SOCKET = `${folder}/guard.sock`;
  return () => endGuard(guard);
}

async function main(): Promise<number> {
  const lib = LIBS[flags.lib ?? ''];
  const [size, seed, limitMs] = [Number(flags.sample), Number(flags.seed), Number(flags.limit) * 1_000];
  if (lib === undefined || !(size > 0) || !Number.isInteger(seed) || !(limitMs > 0)) {
    process.stderr.write(USAGE);
    return 2;
  }
  const root = repository;
  const texts = new Map(
    globSync([...lib.sources], { cwd: root })
      .filter((file) => !LEFT_ALONE.test(file) && file.includes(flags.file))
      .toSorted()
      .map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]),
  );
  const known = readEquivalents(readFileSync(`${root}/docs/mutants.md`, 'utf8'));
  const all = [...texts].flatMap(([file, text]) => mutantsOf(file, text));
  const lineOf = ({ file, line }: Mutant): string => texts.get(file)?.split('\n')[line - 1] ?? '';
  const drawn = sample(all, size, seed);
  const mutants = drawn.filter((mutant) => !isEquivalent(mutant, lineOf(mutant), known));
  say(
    `${flags.lib}: ${mutants.length} of ${all.length} mutants, seed ${seed}; ${drawn.length - mutants.length} equivalent`,
  );

  const stop = await servers();
  const runner = new MutantRunner({ root, specs: lib.specs, limitMs, clock: new SystemClock() });
  const survivors: Mutant[] = [];
  try {
    // On code that fails by itself every mutant would count as noticed.
    const unchanged = await runner.run(null);
    if (unchanged.isKilled) {
      say(`the specs fail on the code as it is: ${unchanged.by}`);
      return 2;
    }
    for (const mutant of mutants) {
      const { isKilled, by } = await runner.run(mutant);
      say(`${isKilled ? 'killed  ' : 'SURVIVED'} ${show(mutant)}   (${by.split('\n')[0].slice(0, 100)})`);
      if (!isKilled) survivors.push(mutant);
    }
  } finally {
    await runner.end();
    await stop();
  }
  return report(mutants.length, survivors, { root, lineOf });
}

function report(
  count: number,
  survivors: readonly Mutant[],
  { root, lineOf }: { root: string; lineOf: (mutant: Mutant) => string },
): number {
  const compiler = new TypeCheck(root);
  const left = survivors.filter((mutant) => compiler.fault(mutant) === null);
  say(
    `\n${survivors.length - left.length} survivors do not compile: the type check notices them. Left ${left.length}:`,
  );
  for (const mutant of left) say(`${show(mutant)}\n    ${lineOf(mutant).trim()}`);
  const score = count === 0 ? 1 : 1 - left.length / count;
  say(
    `\n${flags.lib}: ${count - left.length} of ${count} noticed, ${(100 * score).toFixed(1)} % (seed ${flags.seed})`,
  );
  return score >= NEEDED ? 0 : 1;
}

process.exitCode = await main();
