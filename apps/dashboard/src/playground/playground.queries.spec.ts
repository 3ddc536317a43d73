import { jest } from '@jest/globals';
import { session } from '../api/session.js';

let made = 0;
const ADA = { id: 'usr_ada', name: 'Ada' };
const GET = jest.fn((_path: string, _options: object) => Promise.resolve({ data: { data: [] } }));
const POST = jest.fn(() => Promise.resolve({ data: { key: `rsk_${(made += 1)}` } }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { POST, GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
const { playgroundKey } = await import('./playground.queries.js');

const NOW = Date.parse('2026-11-26T12:00:00Z');
const DAY_MS = 86_400_000;

describe('the key of the playground', () => {
  afterEach(() => session.signOut());

  it('is made once, and anew before it ends', async () => {
    const first = await playgroundKey('org_1', ADA, NOW);
    expect(await playgroundKey('org_1', ADA, NOW + DAY_MS / 2)).toBe(first);
    expect(await playgroundKey('org_1', ADA, NOW + DAY_MS)).not.toBe(first);
  });

  it('is gone after sign-out: who signs in next in the tab does not spend with it', async () => {
    const first = await playgroundKey('org_1', ADA, NOW);
    await session.signOut();
    expect(await playgroundKey('org_1', { id: 'usr_grace', name: 'Grace' }, NOW)).not.toBe(first);
  });

  it('is looked for among the keys that the person made: another of the same name has one too', async () => {
    await playgroundKey('org_1', ADA, NOW);
    expect(GET.mock.lastCall?.[1]).toMatchObject({ params: { query: { created_by: 'usr_ada' } } });
  });
});
