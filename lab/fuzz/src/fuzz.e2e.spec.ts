import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, repository } from '@gateway/testing';
import { logIn, type Person } from './caller.js';
import { readApi } from './operations.js';
import { run } from './run.js';
import { startTarget, type Target } from './target.js';

/** A start and a run on a machine that does other things as well. */
const WAIT_MS = 240_000;
const SEED = 4;

describe('hostile requests made from the OpenAPI document', () => {
  let target: Target;
  let person: Person;
  beforeAll(async () => {
    target = await startTarget();
    person = await logIn(target.url, target.admin);
  }, WAIT_MS);
  afterAll(() => target?.stop(), WAIT_MS);

  it(
    'ERR-51 5,000 of them get documented answers, no 5xx of ours, no hang, and leave nothing reserved',
    async () => {
      const api = readApi(readFileSync(join(repository, 'docs/openapi.json'), 'utf8'));
      const { url } = target;
      const numbers = { seed: SEED, from: 0, to: 5_000 };
      // How fast answers come is for `npm run fuzz` to say, on a machine that does nothing else.
      const result = await run({ url, api, caller: person, ...numbers, connections: 24, hangMs: 60_000 });
      expect(result.failures).toEqual([]);
      expect(result.requests).toBe(5_000);
      // A machine that does other things too may shed some; a run that is shed proves nothing.
      expect(result.statuses.get(503) ?? 0).toBeLessThan(1_000);
      // Every operation was met, and the requests are not so odd that few are served; some of those may be shed, too.
      expect(result.operations.size).toBe(api.operations.length);
      expect(result.statuses.get(200)).toBeGreaterThan(350);
      expect(target.isAlive()).toBe(true);
      await eventually(async () => (await person.reservedUsd()) === '0');
    },
    WAIT_MS,
  );
});
