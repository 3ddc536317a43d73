import type { ScopeLimits } from '@gateway/contracts';
import fc from 'fast-check';
import { CEILINGS, ceilingFaults, effectiveLimits, KEY_DEFAULTS, keyScopeLimits } from './limit-rules.js';

const NONE = { rpm: null, rpd: null, tpm: null, spendCapUsd: null };
const NO_DEFAULTS = { rpm: false, rpd: false, tpm: false };

describe('ceilings', () => {
  it('R06 KEY-08 accepts 1,000 and 1,000,000 without a higher tier and faults one more, naming the field', () => {
    expect(ceilingFaults('standard', { rpm: 1_000, rpd: 1_000_000 })).toEqual([]);
    expect(ceilingFaults('standard', { rpm: 1_001, rpd: 1_000_001 }).map((fault) => fault.loc)).toEqual([
      ['rpm'],
      ['rpd'],
    ]);
    expect(ceilingFaults('standard', { rpm: null })).toEqual([]);
  });

  it.each([
    ['enterprise', 20_000, 5_000_000],
    ['platform', 100_000, 10_000_000],
  ] as const)('LIM-08 LIM-09 the %s ceiling is exact', (tier, rpm, rpd) => {
    expect(CEILINGS[tier]).toEqual({ rpm, rpd });
    expect(ceilingFaults(tier, { rpm, rpd })).toEqual([]);
    expect(ceilingFaults(tier, { rpm: rpm + 1 })).toHaveLength(1);
    expect(ceilingFaults(tier, { rpd: rpd + 1 })).toHaveLength(1);
  });
});

describe('keyScopeLimits', () => {
  it('LIM-01 LIM-02 LIM-03 gives a key without numbers 100 a minute, 10,000 a day and a displayed 1,000,000 tokens', () => {
    expect(keyScopeLimits('k', NONE)).toEqual({
      kind: 'key',
      id: 'k',
      rpm: 100,
      rpd: 10_000,
      tpm: 1_000_000,
      spendCapUsd: null,
      isDefault: { rpm: true, rpd: true, tpm: true },
    });
    expect(keyScopeLimits('k', { ...NONE, rpm: KEY_DEFAULTS.rpm }).isDefault.rpm).toBe(false);
  });
});

describe('effectiveLimits', () => {
  it('a default number of tokens binds nothing and never hides an explicit one', () => {
    const key = keyScopeLimits('k', NONE);
    expect(effectiveLimits([key])).toMatchObject({ tpm: 1_000_000, binding: { tpm: null } });
    const org: ScopeLimits = { ...NONE, kind: 'org', id: 'o', tpm: 2_000_000, isDefault: NO_DEFAULTS };
    expect(effectiveLimits([key, org])).toMatchObject({
      tpm: 2_000_000,
      binding: { tpm: { kind: 'org', id: 'o' } },
    });
  });

  it('the smallest value of any scope wins, metric by metric, and names its scope', () => {
    const limit = fc.option(fc.nat(1_000));
    const scope = fc.record({
      kind: fc.constantFrom('key', 'team', 'org'),
      id: fc.string(),
      rpm: limit,
      rpd: limit,
      tpm: limit,
      cap: limit,
    });
    fc.assert(
      fc.property(fc.array(scope, { minLength: 1, maxLength: 5 }), (drawn) => {
        const scopes = drawn.map(({ cap, ...rest }): ScopeLimits => {
          return { ...rest, spendCapUsd: cap === null ? null : `${cap}.5`, isDefault: NO_DEFAULTS };
        });
        const effective = effectiveLimits(scopes);
        for (const metric of ['rpm', 'rpd', 'tpm'] as const) {
          const values = scopes.map((one) => one[metric]).filter((value) => value !== null);
          expect(effective[metric]).toBe(values.length === 0 ? null : Math.min(...values));
          const holders = scopes.filter((one) => one[metric] === effective[metric]);
          expect(effective.binding[metric]).toEqual(
            values.length === 0 ? null : { kind: holders[0].kind, id: holders[0].id },
          );
        }
        const caps = drawn.map((one) => one.cap).filter((value) => value !== null);
        expect(effective.spendCapUsd).toBe(caps.length === 0 ? null : `${Math.min(...caps)}.5`);
      }),
    );
  });
});
