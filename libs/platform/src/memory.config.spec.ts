import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repository, startProgram } from '@gateway/testing';

/** Path of the built file: a process replaces itself, so it cannot be tried in this one. */
const BUILT = pathToFileURL(join(repository, 'dist/libs/platform/src/memory.config.js')).href;
const SHOWN = `{ pid: process.pid, flags: process.execArgv, args: process.argv.slice(2),
  arenas: process.env.MALLOC_ARENA_MAX, kept: process.env.KEPT }`;
const PROGRAM = `import { boundMemory } from '${BUILT}';
process.stderr.write('a start\\n');
if (process.argv[2] === 'nowhere') process.execve = undefined;
boundMemory();
console.log('shown ' + JSON.stringify(${SHOWN}));
process.stdin.resume();
`;

interface Shown {
  pid: number;
  flags: string[];
  args: string[];
  arenas?: string;
  kept: string;
}

describe('boundMemory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bound-memory-'));
  const program = join(folder, 'program.mjs');
  beforeAll(() => writeFileSync(program, PROGRAM));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Returns the output of a process begun with these arguments, and how often it started. */
  async function started(
    args: string[],
    env: Record<string, string> = {},
  ): Promise<Shown & { starts: number }> {
    const child = await startProgram({
      command: process.execPath,
      args: ['--enable-source-maps', program, ...args],
      env: { KEPT: 'a value', ...env },
      readyWhen: /shown (\{.*\})\n/,
      timeoutMs: 60_000,
    });
    try {
      const shown = JSON.parse(child.ready[1]) as Shown;
      expect(shown.pid).toBe(child.pid);
      return { ...shown, starts: child.output().split('a start\n').length - 1 };
    } finally {
      child.endInput();
      await child.ended;
    }
  }

  it('starts a process again, once, with flags that its Node knows, and with its own flags, arguments and settings', async () => {
    const { flags, args, arenas, kept, starts } = await started(['--port', '0']);
    expect(starts).toBe(2);
    expect(flags).toContain('--max-semi-space-size=16');
    expect(flags).toContain('--heap-growing-percent=100');
    expect(flags[flags.length - 1]).toBe('--enable-source-maps');
    expect({ args, arenas, kept }).toEqual({ args: ['--port', '0'], arenas: '1', kept: 'a value' });
  });

  it('leaves the number of arenas to whoever set it', async () => {
    expect((await started([], { MALLOC_ARENA_MAX: '4' })).arenas).toBe('4');
  });

  it('goes on as it is where a process cannot replace itself', async () => {
    const { starts, flags } = await started(['nowhere']);
    expect({ starts, flags }).toEqual({ starts: 1, flags: ['--enable-source-maps'] });
  });

  it.each(['edge', 'usage', 'workers'])('is the first thing that %s does', (app) => {
    const [first, , second] = readFileSync(join(repository, `apps/${app}/src/main.ts`), 'utf8').split('\n');
    expect(first).toBe("import { boundMemory } from '@gateway/platform/memory';");
    expect(second).toBe('boundMemory();');
  });
});
