import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startProbe } from '../boot/probe-app.fixture.js';
import { commitOf, releaseOf } from './build-info.js';

describe('gateway_build_info', () => {
  it('names service, release, commit and Node', async () => {
    const probe = await startProbe();
    const metrics = await (await fetch(`${probe.url}/metrics`)).text();
    await probe.close();
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(metrics).toMatch(
      new RegExp(
        `^gateway_build_info\\{service="[a-z-]+",version="${version}",commit="(?:[0-9a-f]{12}|unknown)",node="${process.version}"\\} 1$`,
        'm',
      ),
    );
  });

  it('is unknown where no package.json stands above', () => {
    expect(releaseOf('/')).toBe('unknown');
  });

  const one = '0123456789abcdef0123456789abcdef01234567';
  const other = one.replace('0', 'f');
  it.each([
    ['an image', { commit: `${one}\n` }],
    ['an image whose build had a clone', { commit: `${one}\n`, '.git/HEAD': `${other}\n` }],
    ['a clone on a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${one}\n` }],
    [
      'a clone whose branches are packed',
      {
        '.git/HEAD': 'ref: refs/heads/main\n',
        '.git/packed-refs': `# pack-refs\n${other} refs/heads/x\n${one} refs/heads/main\n`,
      },
    ],
    ['a clone of one commit', { '.git/HEAD': `${one}\n` }],
  ])('operations 7: reads the commit of %s', (_, files) => expect(commitIn(files)).toBe(one.slice(0, 12)));

  it('is of an unknown commit where nothing says it, and for what is none', () => {
    expect(commitIn({})).toBe('unknown');
    expect(commitIn({ commit: 'unknown\n' })).toBe('unknown');
    expect(commitIn({ '.git/HEAD': 'ref: refs/heads/none\n' })).toBe('unknown');
  });
});

/** Returns the commit of a program in a folder that has these files. */
function commitIn(files: Readonly<Record<string, string>>): string {
  const top = mkdtempSync(join(tmpdir(), 'build-'));
  try {
    for (const [name, text] of Object.entries({ 'package.json': '{"version":"1.0.0"}', ...files })) {
      mkdirSync(dirname(join(top, name)), { recursive: true });
      writeFileSync(join(top, name), text);
    }
    mkdirSync(join(top, 'dist/apps'), { recursive: true });
    return commitOf(join(top, 'dist/apps'));
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}
