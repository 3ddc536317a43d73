import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@gateway/testing/plain';

const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
/** The commands of this repository that are programs of its own, by name. */
const COMMANDS = Object.entries(scripts).flatMap(([name, script]): [string, string][] => {
  const program = /node (dist\/(?:tools|lab)\/\S+\.js|tools\/(?:check|upgrade)\.mjs)$/.exec(script)?.[1];
  return program === undefined ? [] : [[name, program]];
});
/** Its flags are Jest's. */
const OF_JEST = 'secrets';

interface Ended {
  status: number;
  said: string;
  complained: string;
}

function run(program: string, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) =>
    execFile(process.execPath, [program, ...args], { cwd: repository }, (failure, said, complained) =>
      resolve({ status: failure === null ? 0 : Number(failure.code), said, complained }),
    ),
  );
}

describe('npm run', () => {
  it('issue 11 has commands whose flags are read', () => {
    const names = COMMANDS.map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining(['check', 'chaos', 'fuzz', 'bench', 'mutants', 'replay', 'secrets']),
    );
  });

  it.each(COMMANDS)(
    'issue 11 %s -- --help prints how it is used, and nothing else happens',
    async (name, program) => {
      const { status, said, complained } = await run(program, '--help');
      expect([status, complained]).toEqual([0, '']);
      expect(said).toMatch(new RegExp(`^usage: npm run ${name}\\b`));
    },
  );

  it.each(COMMANDS.filter(([name]) => name !== OF_JEST))(
    'issue 11 %s ends with one sentence where a flag is not known',
    async (_name, program) => {
      const { status, said, complained } = await run(program, '--no-such-flag');
      expect([status, said]).toEqual([2, '']);
      expect(complained).toMatch(/^[^\n]*--no-such-flag[^\n]*\n$/);
    },
  );

  it.each([
    ['chaos', ['--seeds', '0']],
    ['chaos', ['--case', 'B99']],
    ['bench', ['--only', 'nothing']],
    ['bench', ['--seconds', '-1']],
    ['prices', ['--days']],
    ['check-house', ['docs']],
    ['kafka:topics', ['--replication', 'x']],
    // Loads all that it runs on first.
    ['mutants', ['--lib', 'nothing']],
  ])('issue 11 %s %j is one sentence', async (name, args) => {
    const { status, complained } = await run(new Map(COMMANDS).get(name) ?? '', ...args);
    expect(status).toBe(2);
    expect(complained).toMatch(/^[^\n]+\n$/);
  });
});
