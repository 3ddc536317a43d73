import { leftOut, unmet, type Need } from './left-out.js';
import type { Machine } from './programs.js';

function machine(isRoot: boolean, ...programs: string[]): Machine {
  return { isRoot, has: (program) => programs.includes(program), run: () => Promise.resolve() };
}
const ALL = ['chromium', 'redis-server', 'java', 'mvn'];

describe('unmet', () => {
  it('is nothing where every program is there, and nothing where root installs what is missing', () => {
    expect(unmet({}, machine(false, ...ALL)).size).toBe(0);
    expect(unmet({}, machine(true, 'apt-get')).size).toBe(0);
  });

  it('says for each missing program what to run', () => {
    const missing = unmet({}, machine(false, 'apt-get'));
    expect([...missing.keys()].sort()).toEqual(['browser', 'kafka', 'redis']);
    expect(missing.get('browser')).toBe(
      'The program chromium is missing: run "sudo apt-get install -y chromium" (macOS: "brew install --cask chromium"), ' +
        'or set CHROMIUM_PATH to a Chromium.',
    );
    expect(missing.get('redis')).toContain('set REDIS_URL to a running server');
    expect(missing.get('kafka')).toContain('The program java is missing');
  });

  it.each([
    ['CHROMIUM_PATH', 'browser'],
    ['REDIS_URL', 'redis'],
    ['KAFKA_BROKERS', 'kafka'],
  ] as const)('takes %s for what it names', (variable, need) => {
    const missing = unmet({ [variable]: 'given' }, machine(false));
    expect(missing.has(need)).toBe(false);
    expect(missing.size).toBe(2);
  });
});

describe('leftOut', () => {
  const files: Record<string, string> = {
    'libs/a/src/pure.spec.ts': "import { a } from './a.js';",
    'libs/a/src/a.ts': 'export const a = 1;',
    'libs/a/src/store.redis.spec.ts': "import { testRedis } from '@gateway/testing';",
    'libs/a/src/log.spec.ts': "import { start } from './log.fixture.js';",
    'libs/a/src/log.fixture.ts': "import { testKafka } from '@gateway/testing';\nimport './log.spec.js';",
    'e2e/money.e2e.spec.ts': "import { MODES } from './harness/modes.js';",
    'e2e/harness/modes.ts': "import { startFleet } from './fleet.js';",
    'e2e/dashboard/keys.browser.spec.ts': "import { startBrowser } from './browser.js';",
    'e2e/dashboard/browser.ts': "import { chromium } from 'playwright-core';",
  };
  const specs = Object.keys(files).filter((path) => path.endsWith('.spec.ts'));
  const without = (...needs: Need[]) => leftOut(specs, new Set(needs), (path) => files[path]);

  it('names what needs a missing program itself or through a file beside it', () => {
    expect(without('redis')).toEqual(['libs/a/src/store.redis.spec.ts', 'e2e/money.e2e.spec.ts']);
    expect(without('kafka')).toEqual(['libs/a/src/log.spec.ts', 'e2e/money.e2e.spec.ts']);
    expect(without('browser')).toEqual(['e2e/dashboard/keys.browser.spec.ts']);
  });

  it('leaves nothing out where nothing is missing, and never what needs no program', () => {
    expect(without()).toEqual([]);
    expect(without('redis', 'kafka', 'browser')).not.toContain('libs/a/src/pure.spec.ts');
  });
});
