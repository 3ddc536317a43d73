import type { StatementRecord } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { usageRecord } from '@gateway/testing';
import fc from 'fast-check';
import { MEMBER, ROOT } from './payments.fixture.js';
import { on } from './shared-payments.fixture.js';

const read = async (month: string): Promise<StatementRecord> =>
  (await on.billing('GET', `statement?org_id=personal&month=${month}`, undefined, ROOT)).body;
const sum = (amounts: string[]): string => Usd.sum(amounts.map((usd) => Usd.parse(usd))).toString();

/** Months before this one, the oldest first, and this one. */
function months(count: number): string[] {
  const now = new Date();
  return Array.from({ length: count }, (_, n) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count + 1 + n, 1)).toISOString().slice(0, 7),
  );
}

describe('statement of a month', () => {
  const whose = { account_id: 'acct_root', org_id: null, member_id: 'usr_root' };

  it('PAY-03 adds up to the digit: opening, credits, usage by team and model, days, closing, and on to the next month', async () => {
    const shown = months(3);
    const movement = fc.record({
      month: fc.constantFrom(...shown),
      day: fc.integer({ min: 1, max: 28 }),
      team_id: fc.constantFrom(null, 'team_1', 'team_2'),
      model: fc.constantFrom('acme/swift', 'acme/slow'),
      pico: fc.bigInt({ min: 0n, max: 10n ** 13n }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(movement, { minLength: 1, maxLength: 12 }), async (moves) => {
        const now = new Date().toISOString();
        const records = moves.map(({ month, day, team_id, model, pico }) => {
          const at = `${month}-${String(day).padStart(2, '0')}T23:59:59.999Z`;
          const cost_usd = `${pico / 10n ** 12n}.${String(pico % 10n ** 12n).padStart(12, '0')}`;
          return usageRecord({ ...whose, team_id, model, cost_usd, created_at: at < now ? at : now });
        });
        await on.app.post(...records);
        await on.app.funds.creditOnce({
          accountId: 'acct_root',
          orgId: null,
          amountUsd: '3.25',
          kind: 'admin_grant',
          source: `statement-${records[0].request_id}`,
        });
        const statements = await Promise.all(shown.map(read));
        for (const { opening_usd, credits_usd, usage_usd, closing_usd, credits, usage, days } of statements) {
          expect(sum([opening_usd, credits_usd, `-${usage_usd}`])).toBe(Usd.parse(closing_usd).toString());
          expect(sum(credits.map(({ amount_usd }) => amount_usd))).toBe(credits_usd);
          expect(sum(usage.map(({ amount_usd }) => amount_usd))).toBe(usage_usd);
          expect(sum(days.map((day) => day.usage_usd))).toBe(usage_usd);
          expect(sum(days.map((day) => day.credits_usd))).toBe(credits_usd);
        }
        expect(statements.slice(1).map(({ opening_usd: usd }) => usd)).toEqual(
          statements.slice(0, -1).map(({ closing_usd: usd }) => usd),
        );
        const balance = await on.app.call('GET', '/v1/balance?org_id=personal', ROOT);
        expect(statements.at(-1)?.closing_usd).toBe(balance.body.balance_usd);
      }),
      { numRuns: 8 },
    );
  });

  it('PAY-03 is of a month, for those who manage the money', async () => {
    const status = async (query: string, as = ROOT): Promise<number> =>
      (await on.billing('GET', `statement?${query}`, undefined, as)).status;
    expect(await status('org_id=personal&month=2026-13')).toBe(422);
    expect(await status('org_id=personal')).toBe(422);
    expect(await status('org_id=org_1&month=2026-11', MEMBER)).toBe(403);
    const ahead = await read('2099-01');
    expect(ahead).toMatchObject({ credits_usd: '0', usage_usd: '0', usage: [], days: [], is_over: false });
  });
});
