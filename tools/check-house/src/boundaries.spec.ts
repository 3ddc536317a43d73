import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * The canaries: sources that break a boundary, linted under the paths of real files. A boundary that has never failed
 * is not known to exist, and Nx skips the rule in silence where it finds no project graph.
 */
const canaries: { fault: string; rule: string; filePath: string; code: string }[] = [
  {
    fault: 'a logic lib imports Nest',
    rule: '@nx/enforce-module-boundaries',
    filePath: 'libs/money/src/index.ts',
    code: "export { Injectable } from '@nestjs/common';\n",
  },
  {
    fault: 'a logic lib imports Redis',
    rule: '@nx/enforce-module-boundaries',
    filePath: 'libs/money/src/index.ts',
    code: "export { Redis } from 'ioredis';\n",
  },
  {
    fault: 'a service imports another service',
    rule: '@nx/enforce-module-boundaries',
    filePath: 'libs/services/edge/src/index.ts',
    code: "export * as keys from '@gateway/keys';\n",
  },
  {
    fault: 'a contract imports logic',
    rule: '@nx/enforce-module-boundaries',
    filePath: 'libs/contracts/src/index.ts',
    code: "export * as money from '@gateway/money';\n",
  },
  {
    fault: 'a contract imports a package that is not on its list',
    rule: '@nx/enforce-module-boundaries',
    filePath: 'libs/contracts/src/index.ts',
    code: "export { Decimal } from 'decimal.js';\n",
  },
  {
    fault: 'production code imports the test harness',
    rule: '@nx/enforce-module-boundaries',
    filePath: 'libs/services/edge/src/index.ts',
    code: "export * as harness from '@gateway/testing/plain';\n",
  },
  {
    fault: 'a relative import leaves its lib',
    rule: '@nx/enforce-module-boundaries',
    filePath: 'libs/money/src/index.ts',
    code: "export * as contracts from '../../contracts/src/index.js';\n",
  },
  {
    fault: 'a promise floats',
    rule: '@typescript-eslint/no-floating-promises',
    filePath: 'libs/money/src/index.ts',
    code: 'export function f(): void {\n  Promise.resolve(1);\n}\n',
  },
  {
    fault: 'any',
    rule: '@typescript-eslint/no-explicit-any',
    filePath: 'libs/money/src/index.ts',
    code: 'export const a: any = 1;\n',
  },
  {
    fault: 'a hidden clock',
    rule: 'no-restricted-properties',
    filePath: 'libs/money/src/index.ts',
    code: 'export const a = Date.now();\n',
  },
  {
    fault: 'a bare timer',
    rule: 'no-restricted-globals',
    filePath: 'libs/money/src/index.ts',
    code: 'setTimeout(() => undefined, 1);\n',
  },
  {
    fault: 'the environment outside configuration',
    rule: 'no-restricted-properties',
    filePath: 'libs/platform/src/index.ts',
    code: 'export const a = process.env.HOME;\n',
  },
  {
    fault: 'a function above 70 lines',
    rule: 'max-lines-per-function',
    filePath: 'libs/money/src/index.ts',
    code: `export function f(g: () => void): void {\n${'  g();\n'.repeat(70)}}\n`,
  },
  {
    fault: 'a file above 400 lines',
    rule: 'max-lines',
    filePath: 'libs/money/src/index.ts',
    code: 'export {};\n'.repeat(401),
  },
  {
    fault: 'point 6 the dashboard makes an amount a float',
    rule: 'no-restricted-syntax',
    filePath: 'apps/dashboard/src/format/money.ts',
    code: 'export const f = (bill: { cost_usd: string }): number => Number(bill.cost_usd);\n',
  },
];

const allowed: { what: string; filePath: string; code: string }[] = [
  {
    what: 'a service imports platform, logic and contracts',
    filePath: 'libs/services/edge/src/index.ts',
    code: "export * as a from '@gateway/platform';\nexport * as b from '@gateway/money';\nexport * as c from '@gateway/contracts';\n",
  },
];

/** ESLint and its plugins run in their own process: they load native code that Jest's module registry cannot hold. */
const linter = `
  import { ESLint } from 'eslint';
  import { readFileSync } from 'node:fs';
  const eslint = new ESLint();
  const rules = [];
  for (const { code, filePath } of JSON.parse(readFileSync(0, 'utf8'))) {
    const [{ messages }] = await eslint.lintText(code, { filePath });
    rules.push(messages.map((message) => message.ruleId ?? message.message));
  }
  process.stdout.write(JSON.stringify(rules));
`;

describe('the boundaries bite', () => {
  const root = process.cwd();
  let broken: string[][] = [];

  beforeAll(() => {
    execFileSync(process.execPath, [join(root, 'node_modules', '.bin', 'nx'), 'show', 'projects'], {
      cwd: root,
    });
    const input = JSON.stringify([...canaries, ...allowed]);
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', linter], {
      cwd: root,
      input,
      // In CI the parser would otherwise read each file from the disk once and lint that instead of the canary.
      env: { ...process.env, TSESTREE_SINGLE_RUN: 'false' },
      encoding: 'utf8',
    });
    broken = JSON.parse(output) as string[][];
  }, 600_000);

  it.each(canaries.map((canary, index) => ({ ...canary, index })))('refuses: $fault', ({ rule, index }) => {
    expect(broken[index]).toContain(rule);
  });

  it.each(allowed.map((sample, index) => ({ ...sample, index })))('allows: $what', ({ index }) => {
    expect(broken[canaries.length + index]).toEqual([]);
  });
});
