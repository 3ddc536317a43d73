import { FixedClock, keyPrincipal, sessionPrincipal } from '@gateway/testing/plain';
import type { FastifyReply } from 'fastify';
import { SessionCache } from './session-cache.js';

const ages: unknown[] = [];
const reply = { header: (_name: string, age: unknown) => ages.push(age) } as unknown as FastifyReply;
const session = sessionPrincipal();

beforeEach(() => ages.splice(0));

describe('SessionCache', () => {
  it('LIM-18 answers a session for a minute from what it has read, with its age, and no longer', async () => {
    const clock = new FixedClock('2026-11-21T10:00:00Z');
    const cache = new SessionCache(clock);
    let reads = 0;
    const ask = (principal = session as Parameters<typeof cache.answer>[1]['principal']) =>
      cache.answer(reply, {
        principal,
        question: ['summary'],
        isRefreshed: false,
        read: async () => (reads += 1),
      });
    expect(await ask()).toBe(1);
    await clock.advance(59_900);
    expect([await ask(), ages]).toEqual([1, [59]]);
    await clock.advance(200);
    expect(await ask()).toBe(2);
    expect(await ask(keyPrincipal())).toBe(3);
  });

  it('reads once for many that ask at once, and keeps no failure', async () => {
    const cache = new SessionCache(new FixedClock('2026-11-21T10:00:00Z'));
    let reads = 0;
    const ask = (read: () => Promise<number>) =>
      cache.answer(reply, {
        principal: session,
        question: ['events', { limit: 50 }],
        isRefreshed: false,
        read,
      });
    const failing = () => Promise.reject(new Error('away'));
    await expect(ask(failing)).rejects.toThrow('away');
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(async () => (reads += 1))));
    expect([answers, reads]).toEqual([[1, 1, 1, 1, 1], 1]);
  });
});
