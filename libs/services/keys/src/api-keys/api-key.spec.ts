import type { RoutingPolicyBody, UpdateKeyBody } from '@gateway/contracts';
import fc from 'fast-check';
import { keyColumns } from './api-key-columns.js';
import { keyFaults, storedModelLimits, storedPolicy, type KeyContext } from './api-key.js';

const context: KeyContext = { tier: 'standard', orgId: 'org_1', nowMs: 0, current: null };
const faultsOf = (body: object, more: Partial<KeyContext> = {}): string[] =>
  keyFaults(body as UpdateKeyBody, { ...context, ...more }).map(({ loc }) => loc.join('.'));

describe('keyFaults', () => {
  it('KEY-18 one of policy and template at most, with what is stored', () => {
    const stored = { current: { hasPolicy: true, hasTemplate: false } };
    expect(faultsOf({ routing_policy: {}, routing_policy_template_id: 't' })).toHaveLength(1);
    expect(faultsOf({ routing_policy_template_id: 't' }, stored)).toEqual(['routing_policy_template_id']);
    expect(faultsOf({ routing_policy_template_id: 't', routing_policy: null }, stored)).toEqual([]);
    expect(faultsOf({ routing_policy: {} }, stored)).toEqual([]);
    expect(faultsOf({ label: 'x' }, stored)).toEqual([]);
  });

  it('KEY-38 limits of a model are under the same ceilings as the key’s', () => {
    const limits = (rpm: number) => ({ model_limits: { 'openai/gpt-5': { rpm } } });
    expect(faultsOf(limits(1_000))).toEqual([]);
    expect(faultsOf(limits(1_001))).toEqual(['model_limits.openai/gpt-5.rpm']);
    expect(faultsOf(limits(1_001), { tier: 'enterprise' })).toEqual([]);
  });

  it('an end lies in the future, in a form that is read alike everywhere, before the year 10000', () => {
    const nowMs = Date.UTC(2026, 10, 26);
    const ends = (expires_at: string): string[] => faultsOf({ expires_at }, { nowMs });
    for (const good of ['2026-11-26T00:00:00.001Z', '2026-11-26T05:30+0500', '9999-12-31T23:59:59Z'])
      expect([good, ends(good)]).toEqual([good, []]);
    for (const odd of ['2026-11-26T00:00:00Z', '2027-W01-1T00:00:00Z', '9999-12-31T23:59:59-12:00'])
      expect([odd, ends(odd)]).toEqual([odd, ['expires_at']]);
  });

  it('bounds tags and models', () => {
    const many = (n: number, value: unknown) =>
      Object.fromEntries(Array.from({ length: n }, (_, index) => [`a/m${index}`, value]));
    expect(faultsOf({ model_limits: many(201, {}) })).toEqual(['model_limits']);
    expect(
      faultsOf({ request_tags: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`t${n}`, ''])) }),
    ).toEqual(['request_tags']);
    expect(faultsOf({ request_tags: { ok: 'x'.repeat(257) } })).toEqual(['request_tags.ok']);
    expect(faultsOf({ request_tags: { 'not a name': 'x' } })).toEqual(['request_tags.not a name']);
  });

  it('never throws, whatever stands in the two open objects', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        faultsOf({ model_limits: value, request_tags: value });
      }),
    );
  });
});

describe('what is stored', () => {
  it('KEY-21 of a policy only what was set, at both depths', () => {
    const body = {
      max_retries: 0,
      sort: null,
      max_price: { prompt_usd_per_1m: '1', completion_usd_per_1m: null },
    };
    expect(storedPolicy(body as RoutingPolicyBody)).toEqual({
      max_retries: 0,
      max_price: { prompt_usd_per_1m: '1' },
    });
  });

  it('of model limits the four known fields', () => {
    const limits = { 'a/*': { rpm: 1, rpd: 2, tpm: 3, spend_cap_usd: '4' }, 'b/c': {} };
    expect(storedModelLimits(limits)).toEqual(limits);
  });

  it('KEY-28 absent leaves a column alone, null clears it', () => {
    const columns = keyColumns({ label: null, model_limits: null });
    expect(columns.label).toBeNull();
    expect(columns.model_limits).toEqual({});
    const { label: _label, model_limits: _limits, ...rest } = columns;
    expect(Object.values(rest).every((value) => value === undefined)).toBe(true);
  });
});
