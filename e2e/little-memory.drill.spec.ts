import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { callers } from './harness/full-disk.js';
import type { Gateway } from './harness/gateway.js';
import { START_MS } from './harness/modes.js';
import { askOnce } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const FAR = { timeoutMs: 100_000, intervalMs: 200 };
const LARGE_BYTES = 31_000_000;
/** Large bodies at once; a heap of 384 MB holds two of them. */
const LARGE = 6;
const HEAP = '--max-old-space-size=384';
const APPS = ['edge', 'workers'] as const;
/** A call of each that takes a body. */
const CALLS: Readonly<Record<(typeof APPS)[number], string>> = {
  edge: '/v1/chat/completions',
  workers: '/v1/conversations',
};

const part = { type: 'text', text: 'All good things come in small packages. '.repeat(16) };
const content = Array.from({ length: Math.floor(LARGE_BYTES / JSON.stringify(part).length) }, () => part);
const LARGE_CHAT = Buffer.from(
  JSON.stringify({ model: 'simulator/chat', max_tokens: 16, messages: [{ role: 'user', content }] }),
);

/** Statuses of large bodies that are sent at once; 0 = no answer. */
function largeAtOnce(gateway: Pick<Gateway, 'url' | 'key'>, path: string): Promise<number[]> {
  const headers = { 'content-type': 'application/json' };
  const send = (): Promise<number> =>
    askOnce(gateway, 'POST', path, { body: LARGE_CHAT, headers }).then(
      ({ status }) => status,
      () => 0,
    );
  return Promise.all(Array.from({ length: LARGE }, send));
}

const served = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length;

/** Number of answered requests in the ledger of an organization. */
async function charged(session: PersonSession): Promise<number> {
  const asked = { org_id: session.orgId, status: ['success'], limit: 1 };
  const answer = await session.call('POST', '/v1/usage/events', asked);
  return ((await answer.json()) as { total: number }).total;
}

/** Sends large bodies beside small requests; each that was answered has to be in the ledger, and no other. */
async function expectCharged(gateway: Gateway, session: PersonSession): Promise<void> {
  const before = await charged(session);
  const { key } = await session.createKey('little memory', { rpm: 1_000 });
  const load = callers({ ...gateway, key });
  await eventually(() => served(load.statuses) > 20, FAR);
  const large: number[] = [];
  for (let n = 0; n < 3; n += 1) large.push(...(await largeAtOnce({ ...gateway, key }, CALLS.edge)));
  const seen = load.statuses.length;
  await eventually(() => load.statuses.slice(seen).includes(200), FAR);
  await load.end();
  expect(new Set(large)).toEqual(new Set([200, 503]));
  expect(load.statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const answered = before + served(large) + served(load.statuses);
  await eventually(async () => (await charged(session)) >= answered, FAR);
  expect(await charged(session)).toBe(answered);
}

describe('processes of a fleet whose heap is small, and large bodies at once', () => {
  let fleet: Fleet;
  let session: PersonSession;
  beforeAll(async () => {
    const nodeArgs = Object.fromEntries(APPS.map((app) => [app, ['--enable-source-maps', HEAP]]));
    fleet = await startFleet({ nodeArgs });
    session = await logIn(fleet);
  }, START_MS);
  afterAll(() => fleet?.stop(), START_MS);

  it('the edge goes on: 503 for those that it has no memory for, and each answer is charged', async () => {
    const { pid } = fleet.process('edge');
    await expectCharged(fleet, session);
    expect(fleet.process('edge').pid).toBe(pid);
  });

  it('the workers go on: they refuse each body that they have no memory for with 503', async () => {
    const { pid } = fleet.process('workers');
    const statuses = await largeAtOnce(fleet, CALLS.workers);
    expect(statuses.filter((status) => status !== 422 && status !== 503)).toEqual([]);
    expect(statuses).toContain(422);
    expect(fleet.process('workers').pid).toBe(pid);
    expect((await fetch(`${fleet.urls.workers}/readyz`)).status).toBe(200);
  });
});
