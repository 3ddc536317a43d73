import { hash } from 'node:crypto';
import { jest } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { ApiError, TOPIC, type CatalogueModel, type PriceRecord } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import { testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './images.fixture.js';

const edge = tenantOf(started, 'infer_once');

const PATH = '/v1/images/generations';
const PRICE: PriceRecord = { pricing_unit: 'per_image', image_usd_per_unit: '0.04' };
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

function maker(id: string, upstreamModel = 'sim-image'): CatalogueModel {
  const model = testModel(id, [{ provider: 'simulated', upstreamModel }], {
    model_type: 'image',
    supports_completions_api: false,
    input_modalities: ['text', 'image'],
    output_modalities: ['image'],
    pricing: PRICE,
    supports_image_edit: true,
  });
  const routes = model.routes.map((route) => ({
    ...route,
    dialect: 'images',
    price: PRICE,
    maxOutputTokens: null,
  }));
  return { ...model, routes };
}

/** A call of the double that waits, so that a test can look at what has happened until then. */
interface Gate {
  reached: Promise<void>;
  open: () => void;
}

describe('an image under an Idempotency-Key', () => {
  let keys = 0;

  beforeAll(async () => {
    edge.serveModels(maker('acme/image'), maker('acme/broken', 'sim-error-400'));
  });
  beforeEach(() => {
    edge.sim.reset();
    edge.background.creates.away = [];
    jest.restoreAllMocks();
    keys += 1;
  });

  const ask = (
    body: Json = {},
    { name = `k${keys}`, ...more }: { name?: string; key?: string; path?: string; signal?: AbortSignal } = {},
  ): Promise<Response> =>
    edge.post(
      { model: 'acme/image', prompt: 'A fox', ...body },
      { path: PATH, headers: { 'idempotency-key': name }, ...more },
    );
  const codeOf = async (answer: Response): Promise<[number, string]> => [
    answer.status,
    ((await answer.json()) as { error: { code: string } }).error.code,
  ];
  const gate = (call: 'complete'): Gate => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    let reach = (): void => undefined;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const own = edge.background.creates[call].bind(edge.background.creates);
    jest.spyOn(edge.background.creates, call).mockImplementationOnce(async (...given) => {
      reach();
      await opened;
      return own(...given);
    });
    return { reached, open };
  };
  /** Makes the claim look as if its process had died two minutes ago. */
  const abandon = (): void => {
    for (const [name, record] of edge.background.creates.records)
      edge.background.creates.records.set(name, { ...record, createdAt: new Date(0) });
  };

  it('EDGE-08 is made and paid once: a repeat gets the first answer to the byte, on either base', async () => {
    const first = await ask();
    expect(first.status).toBe(200);
    const text = await first.text();
    const again = await ask({}, { path: `/openai${PATH}` });
    expect([again.status, again.headers.get('content-type'), await again.text()]).toEqual([
      200,
      first.headers.get('content-type'),
      text,
    ]);
    expect(edge.upstream()).toHaveLength(1);
    expect(await edge.record(first)).toMatchObject({ outcome: 'served', cost_usd: '0.04' });
    const id = again.headers.get('x-request-id');
    expect(edge.shipped().some((record) => record.request_id === id)).toBe(false);
  });

  it('EDGE-08 409 conflict for another body, recorded; other callers, endpoints and keys are apart', async () => {
    await ask();
    const other = await ask({ prompt: 'A dog' });
    expect(await codeOf(other)).toEqual([409, 'conflict']);
    await edge.record(other, TOPIC.rejections);
    const image = `data:image/png;base64,${PIXEL}`;
    for (const apart of [
      ask({}, { key: edge.addKey(testPrincipal('key_apart')) }),
      ask({}, { name: 'another' }),
      ask({ image }, { path: '/v1/images/edits' }),
    ])
      expect((await apart).status).toBe(200);
    expect(edge.upstream()).toHaveLength(4);
  });

  it('A2 is not sent again to a key that was suspended since, though memory has the old record', async () => {
    const principal = testPrincipal('key_once_revoked');
    const key = edge.addKey(principal);
    expect((await ask({}, { key })).status).toBe(200);
    const digest = hash('sha256', key, 'hex');
    edge.principals.cached.set(digest, edge.principals.known.get(digest) ?? principal);
    edge.principals.add(key, { ...principal, status: 'suspended' });
    expect(await codeOf(await ask({}, { key }))).toEqual([403, 'forbidden']);
    expect(edge.upstream()).toHaveLength(1);
  });

  it('EDGE-08 422 for a key that is none', async () => {
    expect(await codeOf(await ask({}, { name: 'a b' }))).toEqual([422, 'validation_error']);
  });

  it('EDGE-08 409 with a Retry-After until the first has ended', async () => {
    const kept = gate('complete');
    const first = ask();
    await kept.reached;
    const early = await ask();
    expect([...(await codeOf(early)), early.headers.get('retry-after')]).toEqual([409, 'conflict', '1']);
    kept.open();
    expect(await (await ask()).text()).toBe(await (await first).text());
    expect(edge.upstream()).toHaveLength(1);
  });

  it('EDGE-08 goes on when its caller leaves, whose repeat gets it', async () => {
    const kept = gate('complete');
    const caller = new AbortController();
    const left = ask({}, { signal: caller.signal });
    await kept.reached;
    caller.abort();
    await expect(left).rejects.toThrow();
    kept.open();
    await eventually(async () => (await ask()).status === 200);
    expect(edge.upstream()).toHaveLength(1);
    expect(edge.shipped().filter(({ outcome }) => outcome === 'cancelled')).toEqual([]);
  });

  it('EDGE-08 gives the key back where it was refused or failed', async () => {
    expect((await ask({ n: 99 })).status).toBe(422);
    expect((await ask({ model: 'acme/broken' })).status).toBe(400);
    expect((await ask()).status).toBe(200);
  });

  it('EDGE-08 is charged once where the process of the first died, and the first turns out to live', async () => {
    const kept = gate('complete');
    const first = ask();
    await kept.reached;
    abandon();
    const second = await ask();
    expect(second.status).toBe(200);
    kept.open();
    const late = await first;
    expect(await codeOf(late)).toEqual([409, 'conflict']);
    expect(await edge.record(late)).toMatchObject({ outcome: 'failed', cost_usd: null });
    expect(await edge.record(second)).toMatchObject({ outcome: 'served', cost_usd: '0.04' });
    expect(await (await ask()).text()).toBe(await second.text());
  });

  it('EDGE-08 503 and no cost where it cannot be kept that it was answered', async () => {
    edge.background.creates.away = ['complete', 'release'];
    const failed = await ask();
    expect(await codeOf(failed)).toEqual([503, 'service_unavailable']);
    expect(await edge.record(failed)).toMatchObject({ outcome: 'failed', cost_usd: null });
    edge.background.creates.away = [];
    abandon();
    expect((await ask()).status).toBe(200);
  });

  it('EDGE-08 503 where keys cannot be asked for, and nothing is called', async () => {
    edge.background.creates.away = ['claim'];
    expect(await codeOf(await ask())).toEqual([503, 'service_unavailable']);
    expect(edge.upstream()).toEqual([]);
  });

  it('EDGE-08 409 that names the request whose answer the object store did not take, and none is paid again', async () => {
    jest.spyOn(edge.objects, 'put').mockRejectedValue(new ApiError('service_unavailable'));
    const first = await ask();
    expect(first.status).toBe(200);
    const again = await ask();
    expect(again.status).toBe(409);
    expect(again.headers.get('x-should-retry')).toBe('false');
    expect(await again.text()).toContain(first.headers.get('x-request-id') ?? 'no id');
    expect(edge.upstream()).toHaveLength(1);
  });

  it('EDGE-08 a form of an SDK that is sent again is the same body, whatever its boundary', async () => {
    const openai = new OpenAI({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0 });
    const edit = async (prompt: string): Promise<unknown> =>
      openai.images.edit(
        { model: 'acme/image', prompt, image: await toFile(Buffer.from(PIXEL, 'base64'), 'a.png') },
        { headers: { 'idempotency-key': `k${keys}` } },
      );
    const first = await edit('A hat');
    expect(await edit('A hat')).toEqual(first);
    expect(edge.upstream()).toHaveLength(1);
    await expect(edit('A coat')).rejects.toMatchObject({ status: 409 });
  });
});
