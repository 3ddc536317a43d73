import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cloneRepository, type Clone, type User } from './harness/clone.js';
import { npmStart, parsedCurl, type Started } from './harness/npm-start.js';

const COPY_MS = 120_000;
const TEST_MS = 480_000;

const self: User = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const isRoot = self.uid === 0;
/** Root can be anybody; who is not root can only be himself. */
const users: [string, User][] = isRoot
  ? [
      ['another user', { uid: 65_534, gid: 65_534 }],
      ['root', self],
    ]
  : [['this user', self]];

describe('npm start in a fresh clone, in a folder that only its owner may enter', () => {
  let clone: Clone;
  let started: Started | undefined;

  beforeAll(() => {
    clone = cloneRepository();
  }, COPY_MS);
  afterEach(() => {
    started?.kill();
    started = undefined;
    rmSync(join(clone.folder, '.data'), { recursive: true, force: true });
  });
  afterAll(() => clone?.remove());

  async function firstCurl({ greeting }: Started): Promise<[number, unknown]> {
    const { url, init } = parsedCurl(greeting);
    const answer = await fetch(url, init);
    return [answer.status, await answer.json()];
  }
  const served = [200, expect.objectContaining({ object: 'chat.completion' })];

  it.each(users)(
    'answers 200 to the curl that it prints, as %s',
    async (_name, user) => {
      if (isRoot) clone.giveTo(user);
      started = await npmStart(clone, user);

      expect(await firstCurl(started)).toEqual(served);
      const { mode, uid } = statSync(clone.home);
      expect([mode & 0o777, uid]).toEqual([0o700, user.uid]);
      await started.endTerminal('SIGINT');
    },
    TEST_MS,
  );

  it(
    'prints the providers that are enabled and no address that does not answer, and ends with its terminal',
    async () => {
      if (isRoot) clone.giveTo(self);
      started = await npmStart(clone, self, { env: { OPENAI_API_KEY: 'sk-none' } });

      const { greeting } = started;
      expect(greeting).toMatch(/^Providers +OpenAI, Simulator, Simulator \(messages\)$/m);
      const printed = [...greeting.matchAll(/^(?:Model Gateway|Dashboard) +(\S+)$/gm)].map(([, url]) => url);
      const statuses = printed.map(async (url) => (await fetch(url)).status);
      expect(await Promise.all(statuses)).toEqual([200, 200]);
      expect(existsSync(/^Log +(\S+)$/m.exec(greeting)?.[1] ?? '')).toBe(true);

      await started.endTerminal('SIGHUP');
      const log = readFileSync(join(clone.folder, '.data', 'postgres', 'postgres.log'), 'utf8');
      expect(log).toMatch(/database system is shut down\s*$/);
    },
    TEST_MS,
  );

  // In a container root has no user namespaces, and PostgreSQL refuses to run as root.
  if (isRoot)
    it(
      'answers 200 as root where the machine has no user namespaces, and PostgreSQL is a user of its own',
      async () => {
        clone.giveTo(self);
        const programs = join(clone.home, 'programs');
        mkdirSync(programs);
        const refused = '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n';
        writeFileSync(join(programs, 'unshare'), refused, { mode: 0o755 });
        const cluster = join(clone.folder, '.data', 'postgres', 'cluster');
        try {
          for (let run = 0; run < 2; run += 1) {
            started = await npmStart(clone, self, { programs: [programs] });
            expect(await firstCurl(started)).toEqual(served);
            expect(statSync(cluster).uid).not.toBe(0);
            expect(statSync(clone.home).mode & 0o777).toBe(0o700);
            started.kill();
          }
        } finally {
          if (existsSync(cluster)) rmSync(dirname(realpathSync(cluster)), { recursive: true });
        }
      },
      TEST_MS,
    );
});
