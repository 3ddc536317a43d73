import { mintSecret, SystemRandom } from '@gateway/platform';
import type { Gateway } from '../harness/gateway.js';
import { MODES, START_MS } from '../harness/modes.js';
import { askOnce } from '../harness/requests.js';
import { residentMiB } from '../harness/resident.js';
import { logIn, type PersonSession } from '../harness/session.js';
import { BODY } from './wire-corpus.js';

const CHAT = '/v1/chat/completions';
/** Unknown keys, and how many ask at once. */
const FLOOD = 600;
const FLOODING = 20;
/** Keys that nobody has used yet, from the address of the flood. */
const FRESH = 5;
const MOST_TRIES = 100;
/** Far below what that many principals would take beside their requests, far above what a collector leaves lying. */
const MOST_GROWTH_MIB = 96;

describe.each(MODES)('a flood at %s', (_name, start) => {
  let gateway: Gateway;
  let person: PersonSession;
  beforeAll(async () => {
    gateway = await start();
    person = await logIn(gateway);
  }, START_MS);
  afterAll(async () => void (await gateway?.stop()), START_MS);

  it('K15 a flood of unknown keys is 401: memory stays flat, no log holds one, others and new ones are served', async () => {
    const random = new SystemRandom();
    const server = gateway.edgePid;
    const flooded: string[] = [];
    // Where the machine is too busy to look a key up the answer is 503, and not 401.
    const known = async (key: string): Promise<number> => {
      for (let tries = 0; ; tries += 1) {
        const { status } = await askOnce(gateway, 'POST', CHAT, { body: BODY, key });
        if (status !== 503 || tries === MOST_TRIES) return status;
      }
    };
    const flood = async (count: number): Promise<void> => {
      const keys = Array.from({ length: count }, () => mintSecret('rsk_', random));
      flooded.push(...keys);
      const callers = Array.from({ length: FLOODING }, async () => {
        for (let key = keys.pop(); key !== undefined; key = keys.pop()) expect(await known(key)).toBe(401);
      });
      await Promise.all(callers);
    };
    const fresh: string[] = [];
    while (fresh.length < FRESH) fresh.push((await person.createKey(`fresh ${fresh.length}`)).key);
    await flood(FLOOD / 3);
    const before = residentMiB(server);
    const rest = flood(FLOOD);
    // Its first use, and nothing is repeated.
    for (const key of fresh) {
      const { status } = await askOnce(gateway, 'POST', CHAT, { body: BODY, key });
      expect(status).toBe(200);
    }
    expect(await known(gateway.key)).toBe(200);
    await rest;
    expect(residentMiB(server) - before).toBeLessThan(MOST_GROWTH_MIB);
    const logs = Object.values(gateway.outputs());
    expect(flooded.filter((key) => logs.some((log) => log.includes(key)))).toEqual([]);
    const { body } = await askOnce(gateway, 'POST', '/v1/usage/rejections', { key: person.token, body: {} });
    expect(JSON.stringify(body)).not.toContain('unauthorized');
  });
});
