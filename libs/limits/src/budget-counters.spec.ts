import type { BudgetGrant } from '@gateway/contracts';
import fc from 'fast-check';
import { budgetCounters, budgetReadings, budgetWindow } from './budget-counters.js';

const AT = Date.parse('2026-11-15T12:00:00Z');
const NOVEMBER = `b:${Date.parse('2026-11-01T00:00:00Z')}-${Date.parse('2026-12-01T00:00:00Z')}.7`;
const DAY = `b:${Date.parse('2026-11-15T00:00:00Z')}-${Date.parse('2026-11-16T00:00:00Z')}.7`;

function budget(change: Partial<BudgetGrant> = {}): BudgetGrant {
  return {
    ...{ id: 'bud_1', name: 'Ours', scope: 'org', scopeId: 'org_1', amountUsd: '10', raise: null },
    ...{ period: 'month', timeZone: 'UTC', countedFromMs: 7 },
    ...change,
  };
}

describe('counters of budgets', () => {
  it('each names the period in which the request came, and holds its amount', () => {
    const counters = budgetCounters([budget(), budget({ id: 'bud_2', period: 'day', amountUsd: '0.5' })], AT);
    expect(counters).toMatchObject([
      {
        name: NOVEMBER,
        capNano: 10_000_000_000n,
        budget: { id: 'bud_1', endMs: Date.parse('2026-12-01T00:00:00Z') },
      },
      { name: DAY, capNano: 500_000_000n, budget: { id: 'bud_2' } },
    ]);
    expect(counters[0]).toMatchObject({
      rpm: null,
      rpd: null,
      tpm: null,
      budget: { scope: { kind: 'org', id: 'org_1' } },
    });
  });

  it('the smallest amount binds where two of one scope count the same period', () => {
    const two = [budget({ amountUsd: '10' }), budget({ id: 'bud_2', amountUsd: '3' })];
    for (const budgets of [two, two.toReversed()])
      expect(budgetCounters(budgets, AT)).toMatchObject([
        { capNano: 3_000_000_000n, budget: { id: 'bud_2' } },
      ]);
    expect(budgetCounters([budget(), budget({ countedFromMs: 8 })], AT)).toHaveLength(2);
    expect(budgetCounters([budget(), budget({ scope: 'team', scopeId: 'team_1' })], AT)).toHaveLength(2);
  });

  it('a raise counts before its end, and not at it', () => {
    const raised = budget({ raise: { byUsd: '2.5', untilMs: AT } });
    expect(budgetCounters([raised], AT - 1)[0].capNano).toBe(12_500_000_000n);
    expect(budgetCounters([raised], AT)[0].capNano).toBe(10_000_000_000n);
  });

  it('a soft one bounds nothing, and shares its counter with a hard one of the same period', () => {
    const soft = budget({ amountUsd: '1', isHard: false });
    expect(budgetCounters([soft], AT)).toMatchObject([{ name: NOVEMBER, capNano: null }]);
    const both = [soft, budget({ id: 'bud_2' })];
    for (const budgets of [both, both.toReversed()])
      expect(budgetCounters(budgets, AT)).toMatchObject([
        { capNano: 10_000_000_000n, budget: { id: 'bud_2' } },
      ]);
  });

  it('those with thresholds are shown to the ledger with the amount and period of the request, others are not', () => {
    const raised = budget({ raise: { byUsd: '2.5', untilMs: AT }, thresholdsPct: [50, 80], isHard: false });
    const reading = {
      ...{ budget_id: 'bud_1', name: 'Ours', scope: 'org', scope_id: 'org_1', thresholds_pct: [50, 80] },
      ...{ start_ms: Date.parse('2026-11-01T00:00:00Z'), end_ms: Date.parse('2026-12-01T00:00:00Z') },
    };
    const plain = budget({ id: 'bud_2', thresholdsPct: [] });
    expect(budgetReadings([raised, plain, budget()], AT - 1)).toEqual([{ ...reading, amount_usd: '12.5' }]);
    expect(budgetReadings([raised], AT)).toEqual([{ ...reading, amount_usd: '10' }]);
    expect(budgetReadings([plain, budget()], AT)).toBeUndefined();
  });

  it('a rolling one keeps its counter, and begins with the hour in which its days began', () => {
    const rolling = budget({ period: 'rolling', timeZone: null, rollingDays: 30, thresholdsPct: [50] });
    const at = Date.parse('2026-11-15T12:59:59.999Z');
    expect(budgetWindow(rolling, at)).toEqual({
      counter: 'b:r30.7',
      startMs: Date.parse('2026-10-16T12:00:00Z'),
      endMs: null,
    });
    expect(budgetWindow(rolling, at + 1).startMs).toBe(Date.parse('2026-10-16T13:00:00Z'));
    expect(budgetCounters([rolling], at)).toMatchObject([
      { name: 'b:r30.7', capNano: 10_000_000_000n, budget: { endMs: null, rollingDays: 30 } },
    ]);
    expect(budgetReadings([rolling], at)).toMatchObject([{ start_ms: null, end_ms: null, rolling_days: 30 }]);
    const shorter = budget({ ...rolling, id: 'bud_2', rollingDays: 7, amountUsd: '5' });
    expect(budgetCounters([rolling, shorter], at)).toHaveLength(2);
  });

  it('a request of the last millisecond counts in the period that ends, the next one in that which begins', () => {
    const endMs = Date.parse('2026-12-01T00:00:00Z');
    expect(budgetCounters([budget()], endMs - 1)[0].name).toBe(NOVEMBER);
    expect(budgetCounters([budget()], endMs)[0].name).toMatch(new RegExp(`^b:${endMs}-`));
  });

  it('no two counters of a request are of one record, whatever budgets there are', () => {
    const some = fc.record({
      scope: fc.constantFrom('key' as const, 'org' as const),
      period: fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'quarter' as const),
      timeZone: fc.constantFrom('UTC', 'Etc/UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
      amountUsd: fc.constantFrom('1', '2', '3'),
    });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), fc.integer({ min: 0, max: 4e12 }), (drawn, atMs) => {
        const counters = budgetCounters(drawn.map(budget), atMs);
        const names = counters.map(({ name, budget: of }) => `${of?.scope.kind}/${name}`);
        expect(new Set(names).size).toBe(names.length);
        for (const { capNano } of counters) expect(capNano).toBeGreaterThan(0n);
      }),
    );
  });
});
