import {
  fixedClock,
  redisScripts,
  seededRandom,
  testRedis,
  type RedisScripts,
  type TestRedis,
} from '@gateway/testing';
import { open, put, request } from './conformance.fixture.js';
import { LocalShare } from './in-process/local-share.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';

const ACCOUNT = 'acct:{acct_1}';

let place: TestRedis;
let redis: RedisScripts;
let store: RedisLimitStore;

beforeAll(async () => {
  place = await testRedis();
  redis = await redisScripts(place.url);
});
afterAll(async () => {
  redis?.close();
  await place?.drop();
});
beforeEach(async () => {
  await redis.client.flushdb();
  store = new RedisLimitStore({ pipe: redis.pipe, random: seededRandom(1) });
  await open(store);
});

async function stored(): Promise<Buffer> {
  return (await redis.client.getBuffer(ACCOUNT)) ?? Buffer.alloc(0);
}

describe('layout of records in Redis', () => {
  it('operations 3: stands behind all that an earlier release reads, after each kind of call', async () => {
    const unit = request();
    await store.admit(unit);
    expect((await stored()).subarray(88)).toEqual(Buffer.from([1]));
    await store.put([put('renew', request(), { leaseMs: 1 }), put('settle', request(), { nano: 4n })]);
    expect((await stored()).subarray(88)).toEqual(Buffer.from([1]));
    await store.stamp('acct_1', 2, null);
    expect((await stored()).subarray(88)).toEqual(Buffer.from([1]));
    await redis.client.del(ACCOUNT);
    await store.put([put('settle', request(), { nano: 4n })]);
    expect((await stored()).subarray(88)).toEqual(Buffer.from([1]));
  });

  it('operations 3: is 1 where an earlier release wrote the account', async () => {
    await redis.client.set(ACCOUNT, (await stored()).subarray(0, 88));
    expect(await store.admit(request())).toMatchObject({ kind: 'ok' });
    expect(await store.version('acct_1')).toBe(1);
  });

  it('operations 3: an unknown one is refused with a sentence, also by an edge that decides alone where Redis is away', async () => {
    const share = new LocalShare(fixedClock('2026-03-01T12:00:15.000Z'), 1);
    const edge = new RedisLimitStore({ pipe: redis.pipe, random: seededRandom(1), share });
    expect(await edge.admit(request())).toMatchObject({ kind: 'ok' });
    const newer = Buffer.concat([(await stored()).subarray(0, 88), Buffer.from([2])]);
    await redis.client.set(ACCOUNT, newer);
    const refused = {
      code: 'service_unavailable',
      cause: {
        message: expect.stringMatching(/^LAYOUT 2 of the records of an account is not known/) as unknown,
      },
    };
    for (const limits of [store, edge]) {
      await expect(limits.admit(request())).rejects.toMatchObject(refused);
      await expect(limits.trial(request())).rejects.toMatchObject(refused);
    }
    await expect(store.version('acct_1')).rejects.toMatchObject(refused);
    await expect(store.stamp('acct_1', 3, null)).rejects.toMatchObject(refused);
    expect(await stored()).toEqual(newer);
  });

  it('operations 3: one that a newer release wrote stays where an edge of this one still settles', async () => {
    const unit = request();
    await store.admit(unit);
    await redis.client.set(ACCOUNT, Buffer.concat([(await stored()).subarray(0, 88), Buffer.from([2])]));
    await store.put([put('settle', unit, { nano: 4n }), put('settle', request(), { nano: 4n })]);
    expect((await stored()).subarray(88)).toEqual(Buffer.from([2]));
  });
});
