import type { Machine } from './programs.js';
import { ensureProgram } from './programs.js';

/** A machine whose package manager makes `provides` appear, after as many failures as asked. */
function machine(options: { isRoot: boolean; programs: string[]; provides?: string; failures?: number }) {
  const programs = new Set(options.programs);
  const commands: string[] = [];
  let failures = options.failures ?? 0;
  const fake: Machine = {
    isRoot: options.isRoot,
    has: (program) => programs.has(program),
    run: (command, args) => {
      commands.push([command, ...args].join(' '));
      if (args[0] === 'update') return Promise.resolve();
      if (failures-- > 0) return Promise.reject(new Error('Unable to locate package'));
      if (options.provides) programs.add(options.provides);
      return Promise.resolve();
    },
  };
  return { fake, commands };
}

describe('ensureProgram', () => {
  it('runs nothing when the program is there', async () => {
    const { fake, commands } = machine({ isRoot: true, programs: ['java', 'apt-get'] });
    await ensureProgram('java', fake);
    expect(commands).toEqual([]);
  });

  it.each([
    ['redis-server', 'redis-server'],
    ['java', 'default-jre-headless'],
    ['mvn', 'maven'],
  ])('installs %s from the Debian package %s as root', async (program, debianPackage) => {
    const { fake, commands } = machine({ isRoot: true, programs: ['apt-get'], provides: program });
    await ensureProgram(program, fake);
    expect(commands).toHaveLength(1);
    expect(commands[0]).toMatch(new RegExp(`^apt-get install -y .*${debianPackage}$`));
  });

  it('fetches the package lists when the first try fails, as in a fresh image', async () => {
    const { fake, commands } = machine({ isRoot: true, programs: ['apt-get'], provides: 'mvn', failures: 1 });
    await ensureProgram('mvn', fake);
    expect(commands.map((command) => command.split(' ')[1])).toEqual(['install', 'update', 'install']);
  });

  it('says the exact command when it may not install', async () => {
    const { fake, commands } = machine({ isRoot: false, programs: ['apt-get'] });
    await expect(ensureProgram('redis-server', fake)).rejects.toThrow(
      'The program redis-server is missing: run "sudo apt-get install -y redis-server" (macOS: "brew install redis"), ' +
        'start Docker, or set REDIS_URL to a running server.',
    );
    expect(commands).toEqual([]);
  });

  it('says the exact command when installing fails', async () => {
    const { fake } = machine({ isRoot: true, programs: ['apt-get'], failures: 2 });
    await expect(ensureProgram('java', fake)).rejects.toThrow('apt-get install -y default-jre-headless');
  });
});
