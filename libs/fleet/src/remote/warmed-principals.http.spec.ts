import {
  FixedClock,
  keyPrincipal,
  LimitStoreDouble,
  PatientClock,
  seededRandom,
  startUpstreamDouble,
  type UpstreamDouble,
} from '@gateway/testing';
import { InternalHttp } from '@gateway/platform';
import { HttpPrincipalReader } from './http-principal-reader.js';

const digest = (n: number): string => n.toString(16).padStart(64, '0');
const MANY = Array.from({ length: 150 }, (_, n) => digest(n));

describe('keys that are fetched before they are used', () => {
  let wire: UpstreamDouble;
  let clock: FixedClock;
  let http: InternalHttp;
  let reader: HttpPrincipalReader;
  let noted: string[];
  let outcomes: string[];

  beforeEach(async () => {
    wire = await startUpstreamDouble(({ body }) => {
      const { digests } = JSON.parse(body.toString()) as { digests: string[] };
      // Every tenth is unknown by now.
      const keys = digests.map((one) =>
        one.endsWith('0')
          ? null
          : { principal: keyPrincipal({ keyId: `key_${one.slice(-3)}` }), etag: '"1"' },
      );
      return { json: { keys } };
    });
    clock = new FixedClock('2026-11-01T00:00:00Z');
    const random = seededRandom(1);
    const services = { keys: wire.url };
    http = new InternalHttp({
      clock: new PatientClock('2026-11-01T00:00:00Z'),
      random,
      fleetToken: 't',
      services,
    });
    [noted, outcomes] = [[], []];
    reader = new HttpPrincipalReader({
      ...{ http, limits: new LimitStoreDouble({ clock, random }), clock, random },
      onOutcome: (outcome) => void outcomes.push(outcome),
      onKey: (one) => void noted.push(one),
    });
  });
  afterEach(async () => {
    await http.close();
    await wire.close();
  });

  const known = MANY.filter((one) => !one.endsWith('0'));

  it('operations 9: 150 keys come in 3 look-ups, and their first use asks nobody', async () => {
    expect(await reader.warm(MANY, clock.monotonic() + 1)).toBe(known.length);
    expect(wire.seen).toHaveLength(3);
    const bodies = wire.seen.map(({ body }) => JSON.parse(body.toString()) as { is_ahead: boolean });
    expect(bodies.map(({ is_ahead }) => is_ahead)).toEqual([true, true, true]);
    for (const one of known)
      expect(await reader.resolve({ kind: 'key', digest: one })).toMatchObject({
        keyId: `key_${one.slice(-3)}`,
      });
    expect(wire.seen).toHaveLength(3);
    // Fetched keys are no keys in use: an edge that notes them would keep them for ever.
    expect(noted).toEqual([]);
    expect(outcomes.filter((outcome) => outcome === 'fetched')).toHaveLength(known.length);
  });

  it('K10 a key in memory is answered at once while its record is fresh, and resolve has to answer for all else', async () => {
    const one = { kind: 'key', digest: digest(1) } as const;
    expect(reader.remembered(one)).toBeNull();
    const principal = await reader.resolve(one);
    outcomes.length = 0;
    expect(reader.remembered(one)).toBe(principal);
    expect(outcomes).toEqual(['hit']);
    expect(reader.remembered({ kind: 'admin_key', digest: digest(1) })).toBeNull();
    await clock.advance(60_000);
    expect(reader.remembered(one)).toBeNull();
    expect(wire.seen).toHaveLength(1);
  });

  it('notes each key that is looked up for a caller', async () => {
    await reader.resolve({ kind: 'key', digest: digest(1) });
    await reader.resolve({ kind: 'key', digest: digest(1) });
    await expect(reader.resolve({ kind: 'key', digest: digest(16) })).rejects.toThrow();
    expect(noted).toEqual([digest(1)]);
  });

  it('an unknown one is looked up again at its use', async () => {
    await reader.warm(MANY, clock.monotonic() + 1);
    await expect(reader.resolve({ kind: 'key', digest: digest(0) })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    expect(wire.seen).toHaveLength(4);
  });

  it('ends at its time, and at the first failure', async () => {
    expect(await reader.warm(MANY, clock.monotonic())).toBe(0);
    expect(wire.seen).toHaveLength(0);
    wire.answer = () => ({ status: 500 });
    const thousands = Array.from({ length: 10_000 }, (_, n) => digest(n));
    await expect(reader.warm(thousands, clock.monotonic() + 1)).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    // Those at once, and one more try of each.
    expect(wire.seen.length).toBeLessThanOrEqual(8);
  });
});
