import { ApiError } from '@gateway/contracts';
import { FixedClock, IdempotencyStoreDouble, keyPrincipal } from '@gateway/testing';
import type { FastifyRequest } from 'fastify';
import { idempotent, type Created } from './idempotent.js';

let requests = 0;

function request(
  body: unknown,
  key: string | undefined = 'k1',
  more: Partial<FastifyRequest> = {},
): FastifyRequest {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const made = {
    method: 'POST',
    url: '/v1/keys',
    headers,
    body,
    principal: keyPrincipal(),
    id: `req_${(requests += 1)}`,
  };
  return { ...made, ...more } as unknown as FastifyRequest;
}

describe('idempotent', () => {
  let store: IdempotencyStoreDouble;
  let clock: FixedClock;
  let creates: number;
  const create = async (): Promise<Created> => {
    creates += 1;
    return { status: 201, body: { id: `key_${creates}`, key: 'rsk_secret' }, secretFields: ['key'] };
  };
  const run = (of: FastifyRequest, by = create): ReturnType<typeof idempotent> =>
    idempotent({ store, clock }, of, by);

  beforeEach(() => {
    store = new IdempotencyStoreDouble();
    clock = new FixedClock('2026-11-01T00:00:00Z');
    creates = 0;
  });

  it('EDGE-08 the same key and body get the first answer again, without its secret', async () => {
    const first = await run(request({ label: 'a', tags: { x: 1, y: 2 } }));
    expect(first).toEqual({ status: 201, body: { id: 'key_1', key: 'rsk_secret' }, isReplay: false });
    const again = await run(request({ tags: { y: 2, x: 1 }, label: 'a' }));
    expect(again).toEqual({ status: 201, body: { id: 'key_1' }, isReplay: true });
    expect(JSON.stringify([...store.records.values()])).not.toContain('rsk_secret');
  });

  it('EDGE-08 409 conflict for the same key with another body', async () => {
    await run(request({ label: 'a' }));
    await expect(run(request({ label: 'b' }))).rejects.toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(creates).toBe(1);
  });

  it('EDGE-08 keeps a key for 24 hours', async () => {
    await run(request({ label: 'a' }));
    await clock.advance(24 * 3_600_000);
    expect((await run(request({ label: 'a' }))).isReplay).toBe(true);
    await clock.advance(1);
    expect((await run(request({ label: 'b' }))).isReplay).toBe(false);
  });

  it('EDGE-08 runs once for parallel requests', async () => {
    const results = await Promise.allSettled([run(request({})), run(request({})), run(request({}))]);
    expect(creates).toBe(1);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  });

  it('EDGE-08 a create that waits answers parallel requests alike, and one runs after a first that failed', async () => {
    const wait = (body: unknown, by = create): ReturnType<typeof idempotent> =>
      idempotent({ store, clock, waits: true }, request(body), by);
    let finish: (made: Created) => void = () => undefined;
    const first = wait({}, () => new Promise((resolve) => (finish = resolve)));
    const others = [wait({}), wait({})];
    await expect(wait({ label: 'b' })).rejects.toThrow(expect.objectContaining({ code: 'conflict' }));
    finish({ status: 201, body: { id: 'key_first' } });
    await clock.advance(100);
    expect(await Promise.all([first, ...others])).toEqual([
      { status: 201, body: { id: 'key_first' }, isReplay: false },
      { status: 201, body: { id: 'key_first' }, isReplay: true },
      { status: 201, body: { id: 'key_first' }, isReplay: true },
    ]);
    store.records.clear();
    let fail: (reason: Error) => void = () => undefined;
    const refused = wait({}, () => new Promise((_, reject) => (fail = reject)));
    const next = wait({});
    await new Promise(setImmediate);
    fail(new ApiError('validation_error'));
    await expect(refused).rejects.toThrow(ApiError);
    await clock.advance(100);
    expect(await next).toMatchObject({ body: { id: 'key_1' }, isReplay: false });
  });

  it('separates callers, endpoints and requests without a key', async () => {
    await run(request({}));
    await run(request({}, 'k1', { principal: keyPrincipal({ keyId: 'key_2' }) }));
    await run(request({}, 'k1', { url: '/v1/teams' }));
    await run(request({}, undefined, { headers: {} }));
    expect(creates).toBe(4);
  });

  it('gives the key back after a create that failed, and takes over what a dead process left', async () => {
    const refuse = async (): Promise<Created> => {
      throw new ApiError('validation_error');
    };
    await expect(run(request({}), refuse)).rejects.toThrow(ApiError);
    expect((await run(request({}))).isReplay).toBe(false);
    void run(request({}, 'k2'), () => new Promise(() => undefined));
    await expect(run(request({}, 'k2'))).rejects.toThrow(expect.objectContaining({ code: 'conflict' }));
    await clock.advance(120_000);
    await expect(run(request({}, 'k2'))).rejects.toThrow(expect.objectContaining({ code: 'conflict' }));
    await clock.advance(1);
    expect((await run(request({}, 'k2'))).isReplay).toBe(false);
  });

  it('EDGE-08 the end of a request whose key another one has taken over changes nothing', async () => {
    const ends: (() => void)[] = [];
    const slow = (id: string) => () =>
      new Promise<Created>((resolve) => ends.push(() => resolve({ status: 201, body: { id } })));
    const late = run(request({}), slow('late'));
    await clock.advance(120_001);
    const next = run(request({}), slow('next'));
    while (ends.length < 2) await clock.advance(0);
    ends[0]();
    await late;
    await expect(run(request({}))).rejects.toThrow(expect.objectContaining({ code: 'conflict' }));
    ends[1]();
    await next;
    expect((await run(request({}))).body).toEqual({ id: 'next' });
  });

  it('422 for a key that is empty, too long or not printable', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256), 'é']) {
      await expect(run(request({}, key))).rejects.toThrow(
        expect.objectContaining({ code: 'validation_error' }),
      );
    }
  });
});
