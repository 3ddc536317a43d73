import { ApiError, type InferenceCall } from '@gateway/contracts';
import {
  EventLogDouble,
  eventually,
  FixedClock,
  PatientClock,
  seededRandom,
  startUpstreamDouble,
  type UpstreamDouble,
} from '@gateway/testing';
import { InternalHttp, type InternalRequest } from '@gateway/platform';
import { HttpCatalogueNames } from './http-catalogue-names.js';
import { HttpCatalogueReader } from './http-catalogue-reader.js';
import { HttpRequestContents } from './http-request-contents.js';
import { HttpFunds } from './http-funds.js';
import { HttpInference } from './http-inference.js';

const random = seededRandom(1);
let service: UpstreamDouble;
let http: InternalHttp;

beforeEach(async () => {
  service = await startUpstreamDouble();
  const services = { usage: service.url, catalogue: service.url, edge: service.url };
  const clock = new PatientClock('2026-11-01T00:00:00Z');
  http = new InternalHttp({ clock, random, fleetToken: 't', services });
});
afterEach(async () => {
  await http.close();
  await service.close();
});

const unavailable = expect.objectContaining({ code: 'service_unavailable', status: 503 });

describe('InternalHttp', () => {
  const read: InternalRequest = {
    service: 'usage',
    method: 'GET',
    path: '/internal/x',
    timeoutMs: 1_000,
    idempotent: true,
  };

  it('tries an idempotent request once more after a reset or a 5xx, no other', async () => {
    const answers = [0, 200, 503, 200, 0, 503];
    service.answer = () => {
      const status = answers.shift() ?? 200;
      return status === 0 ? { fault: 'reset' } : { status, json: { ok: true } };
    };
    expect((await http.request(read)).body).toEqual({ ok: true });
    expect((await http.request(read)).status).toBe(200);
    await expect(http.request({ ...read, idempotent: false })).rejects.toThrow(unavailable);
    await expect(http.request({ ...read, idempotent: false })).rejects.toThrow(unavailable);
    expect(service.seen).toHaveLength(6);
  });

  it('503 for an answer that is too large, is no JSON, or for a service without an address', async () => {
    service.answer = () => ({ json: 'x'.repeat(2_000) });
    await expect(http.request({ ...read, maxBytes: 1_000 })).rejects.toThrow(unavailable);
    service.answer = () => ({ pieces: ['<html>'] });
    await expect(http.request(read)).rejects.toThrow(unavailable);
    await expect(http.request({ ...read, service: 'keys' })).rejects.toThrow(unavailable);
  });

  it('ends with the caller’s signal, without a second try', async () => {
    const signal = AbortSignal.abort(new Error('The caller has gone.'));
    await expect(http.request({ ...read, signal })).rejects.toThrow(ApiError);
    expect(service.seen).toHaveLength(0);
  });

  it('U15 503 says how large an answer is before it is read, and reads none that is refused', async () => {
    const sizes: number[] = [];
    service.answer = () => ({ json: 'x'.repeat(1_000), headers: { 'content-length': '1002' } });
    const reserveMemory = (bytes: number): void => void sizes.push(bytes);
    expect((await http.request({ ...read, reserveMemory })).body).toHaveLength(1_000);
    service.answer = () => ({ pieces: ['"x"'] });
    await http.request({ ...read, reserveMemory, maxBytes: 5_000 });
    // Of what does not say it the most that it may be.
    expect(sizes).toEqual([1_002, 5_000]);
    const refusal = new ApiError('service_unavailable', { retryAfterSeconds: 3 });
    const refuse = (): never => {
      throw refusal;
    };
    await expect(http.request({ ...read, reserveMemory: refuse })).rejects.toBe(refusal);
    expect(service.seen).toHaveLength(3);
  });

  it('503 carries Retry-After of 1 to 5 s', async () => {
    service.answer = () => ({ status: 500 });
    const failure: unknown = await http.request(read).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(ApiError);
    const { retryAfterSeconds } = (failure as ApiError).options;
    expect([1, 2, 3, 4, 5]).toContain(retryAfterSeconds);
  });
});

describe('HttpRequestContents', () => {
  it('asks the path of erasures that is agreed, and takes no other answer', async () => {
    const contents = new HttpRequestContents(http, random);
    const found = {
      erased: [{ accountId: 'acct_1', endUserHash: 'h', erasedAtMs: 5 }],
      isAll: true,
    };
    service.answer = () => ({ json: found });
    expect(await contents.erasedSince(new Date(5))).toEqual(found);
    expect(service.seen[0].path).toBe('/internal/erasures?since=1970-01-01T00%3A00%3A00.005Z');
    for (const json of [null, {}, { erased: [7], isAll: true }, { erased: [] }]) {
      service.answer = () => ({ json });
      await expect(contents.erasedSince(new Date(5))).rejects.toThrow(unavailable);
    }
    service.answer = () => ({ status: 500 });
    await expect(contents.erasedSince(new Date(5))).rejects.toThrow(unavailable);
  });
});

describe('HttpInference', () => {
  it('503, and sent once, where an edge of another release refuses a member of the call', async () => {
    service.answer = () => ({ status: 422, json: { error: { code: 'validation_error' } } });
    const call = { request_id: 'req_1', unit: 0, is_repeat: true } as InferenceCall;
    await expect(new HttpInference(http, random).infer(call)).rejects.toThrow(unavailable);
    expect(service.seen).toHaveLength(1);
  });
});

describe('HttpFunds', () => {
  it('asks the paths that are agreed', async () => {
    const funds = new HttpFunds(http, random);
    service.answer = ({ path }) => ({
      json: path.startsWith('/internal/spend') ? { spent_usd: ['1.5'] } : { watermark: 7 },
    });
    const scopes = [{ kind: 'key' as const, id: 'key_1' }];
    await funds.seedSpendLimit('acct_1', 'g1', scopes);
    expect(await funds.spent(scopes, 'acct_1')).toEqual(['1.5']);
    expect(await funds.watermark('edge/1', 'e 1')).toBe(7);
    await funds.credit({ accountId: 'a', orgId: null, amountUsd: '5', kind: 'admin_grant', source: 's' });
    expect(service.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /internal/gate/acct_1',
      'POST /internal/spend',
      'GET /internal/watermarks/edge%2F1?epoch=e%201',
      'POST /internal/credits',
    ]);
  });

  it('seeds a gate once for all who wait for it, and again for the next', async () => {
    const funds = new HttpFunds(http, random);
    const scopes = [{ kind: 'key' as const, id: 'key_1' }];
    const seed = (gen: string): Promise<void> => funds.seedSpendLimit('acct_1', gen, scopes);
    await Promise.all([...Array.from({ length: 50 }, () => seed('g1')), seed('g2')]);
    expect(service.seen).toHaveLength(2);
    service.answer = () => ({ status: 503 });
    const failed = await Promise.allSettled([seed('g2'), seed('g2')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    service.answer = () => ({ status: 204 });
    await seed('g2');
    expect(service.seen.length).toBe(5);
  });

  it.each([[{ spent_usd: [] }], [{ spent_usd: [1.5] }], [{}], [null]])(
    '503 for %j as spend',
    async (body) => {
      service.answer = () => ({ json: body });
      await expect(new HttpFunds(http, random).spent([{ kind: 'key', id: 'k' }], null)).rejects.toThrow(
        unavailable,
      );
    },
  );
});

describe('HttpCatalogueReader', () => {
  const snapshot = (id: string): object => ({
    id,
    created_at: '2026-11-01T00:00:00Z',
    models: [],
    providers: [],
  });
  const ALIASES = '/internal/catalogue/aliases';
  const book = (version: string, name: string): object => {
    const targets = [{ model: 'acme/one', weight: 1 }];
    return { version, aliases: [{ org_id: null, name, targets }] };
  };
  let clock: FixedClock;
  let reader: HttpCatalogueReader;
  let eventLog: EventLogDouble;
  let failures: unknown[];

  beforeEach(() => {
    clock = new FixedClock('2026-11-01T00:00:00Z');
    eventLog = new EventLogDouble();
    failures = [];
    reader = new HttpCatalogueReader({
      http,
      eventLog,
      clock,
      random,
      onFailure: (failure) => failures.push(failure),
    });
  });
  afterEach(() => reader.stop());

  it('loads at start, again by ETag after an event, and calls back once per change', async () => {
    let id = 'snap_1';
    service.answer = ({ path, headers }) => {
      if (path === ALIASES) return { status: 404 };
      return headers['if-none-match'] === id
        ? { status: 304 }
        : { json: snapshot(id), headers: { etag: id } };
    };
    const changes: string[] = [];
    reader.onChange((changed) => changes.push(changed.id));
    await reader.start();
    expect(reader.snapshot().id).toBe('snap_1');
    await eventLog.subscriptions[0].handler([]);
    id = 'snap_2';
    await eventLog.subscriptions[0].handler([]);
    expect(reader.snapshot().id).toBe('snap_2');
    expect(changes).toEqual(['snap_1', 'snap_2']);
    expect((await reader.snapshotById('snap_1'))?.id).toBe('snap_1');
    const asked = service.seen.filter(({ path }) => path !== ALIASES);
    expect(asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, 'snap_1', 'snap_1']);
    // A catalogue service of an earlier release has no aliases.
    expect(reader.aliases().aliases).toEqual([]);
  });

  it('has the aliases beside the snapshot, takes no older ones, and asks again after an event that comes during a load', async () => {
    let [version, name] = ['7', 'prod'];
    let gate: Promise<void> = Promise.resolve();
    service.answer = async ({ path }) => {
      if (path !== ALIASES) return { json: snapshot('snap_1') };
      const json = book(version, name);
      await gate;
      return { json };
    };
    await reader.start();
    const names = (): string[] => reader.aliases().aliases.map((one) => one.name);
    expect(names()).toEqual(['prod']);
    [version, name] = ['6', 'older'];
    await eventLog.subscriptions[0].handler([]);
    expect(names()).toEqual(['prod']);
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    const seen = service.seen.length;
    const first = eventLog.subscriptions[0].handler([]);
    await eventually(() => service.seen.length === seen + 2);
    [version, name] = ['8', 'newer'];
    const second = eventLog.subscriptions[0].handler([]);
    open();
    await Promise.all([first, second]);
    expect(names()).toEqual(['newer']);
  });

  it('is not ready without the aliases: a name of them would be a false 404', async () => {
    service.answer = ({ path }) => (path === ALIASES ? { status: 500 } : { json: snapshot('snap_1') });
    await reader.start();
    expect([reader.isLoaded, failures.length]).toEqual([false, 1]);
    service.answer = ({ path }) => ({ json: path === ALIASES ? book('1', 'prod') : snapshot('snap_1') });
    await clock.advance(500);
    await eventually(() => reader.isLoaded);
  });

  it('503 before the first load, then comes up by itself; an old snapshot serves on through a failure', async () => {
    service.answer = () => ({ status: 500 });
    await reader.start();
    expect(() => reader.snapshot()).toThrow(unavailable);
    expect(reader.readiness()).toBe('No catalogue snapshot was loaded yet.');
    service.answer = ({ path }) => ({ json: path === ALIASES ? book('1', 'prod') : snapshot('snap_1') });
    await clock.advance(500);
    await eventually(() => reader.isLoaded);
    service.answer = () => ({ json: { nonsense: true } });
    await eventLog.subscriptions[0].handler([]);
    expect(reader.snapshot().id).toBe('snap_1');
    expect(reader.readiness()).toBe(true);
    expect(failures).toHaveLength(2);
  });

  it('answers null for an unknown snapshot', async () => {
    service.answer = () => ({ status: 404, json: { error: {} } });
    expect(await reader.snapshotById('snap_9')).toBeNull();
  });
});

describe('HttpCatalogueNames', () => {
  const names = (): HttpCatalogueNames => new HttpCatalogueNames(http, random);
  const asked = { models: ['a/b', 'a/c'], ids: ['a/b'], providers: ['d'] };

  it('asks the catalogue which names nobody knows', async () => {
    service.answer = () => ({ json: { models: ['a/c'], ids: [], providers: [] } });
    expect(await names().unknown(asked)).toEqual({ models: ['a/c'], ids: [], providers: [] });
    expect(service.seen.map(({ path, body }) => [path, JSON.parse(body.toString()) as unknown])).toEqual([
      ['/internal/catalogue/unknown', asked],
    ]);
  });

  it.each([
    ['an error', { status: 500 }],
    ['nonsense', { json: { models: 'a/c', ids: [], providers: [] } }],
    ['nothing', { json: null }],
  ])('503, never an answer of its own, for %s', async (_what, answer) => {
    service.answer = () => answer;
    await expect(names().unknown(asked)).rejects.toThrow(unavailable);
  });
});
