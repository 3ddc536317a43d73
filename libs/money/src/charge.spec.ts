import type { PriceRecord } from '@gateway/contracts';
import { chargeFor } from './index.js';
import type { ChargeCase, FailedAttempt } from './index.js';

const record: PriceRecord = {
  prompt_usd_per_1m: '3',
  completion_usd_per_1m: '15',
  cache_read_input_usd_per_1m: '0.3',
};
const traffic = { inputBytes: 400, outputBytes: 40 };
const unit: ChargeCase = {
  outcome: 'served',
  usage: { prompt_tokens: 1000, completion_tokens: 100 },
  record,
  tier: 'default',
  discountPct: '50',
  byok: { served: false, feePct: '0' },
  context: {},
};
const attempt: FailedAttempt = {
  record,
  tier: 'default',
  byokServed: false,
  context: {},
  usage: { prompt_tokens: 1000, completion_tokens: 2 },
  traffic: null,
};

describe('chargeFor', () => {
  it('LIM-33 charges a served unit its reported usage at the account’s discount', () => {
    expect(chargeFor(unit)).toMatchObject({
      cost_usd: '0.00225',
      list_cost_usd: '0.0045',
      house_usd: '0',
      usage_estimated: false,
    });
  });

  it.each(['cached', 'rejected', 'crashed', 'unsent'] as const)(
    'charges nobody for a unit that was %s',
    (outcome) => {
      expect(chargeFor({ ...unit, outcome, traffic })).toEqual({
        cost_usd: null,
        list_cost_usd: null,
        house_usd: '0',
        usage: null,
        usage_estimated: false,
      });
    },
  );

  it('charges a failed unit to the house at list', () => {
    expect(chargeFor({ ...unit, outcome: 'failed' })).toMatchObject({ cost_usd: null, house_usd: '0.0045' });
  });

  it('charges nobody for a failed unit whose caller’s own key served', () => {
    const byok = { served: true, feePct: '10' };
    expect(chargeFor({ ...unit, outcome: 'failed', byok })).toMatchObject({ cost_usd: null, house_usd: '0' });
  });

  it('charges the house each failed attempt at its own route, and the customer the served one', () => {
    const dear = { ...attempt, record: { prompt_usd_per_1m: '30', completion_usd_per_1m: '150' } };
    const charge = chargeFor({ ...unit, failedAttempts: [attempt, dear, { ...attempt, byokServed: true }] });
    expect(charge).toMatchObject({ cost_usd: '0.00225', house_usd: '0.03333' });
  });

  it('estimates a failed attempt only once an event came', () => {
    const silent = { ...attempt, usage: null };
    expect(chargeFor({ ...unit, failedAttempts: [silent] }).house_usd).toBe('0');
    expect(chargeFor({ ...unit, failedAttempts: [{ ...silent, traffic }] }).house_usd).toBe('0.00045');
  });

  it('completes a failed attempt’s reported input by the estimate of its output', () => {
    const begun = { ...attempt, usage: { prompt_tokens: 1000, cached_tokens: 1000 }, traffic };
    expect(chargeFor({ ...unit, failedAttempts: [begun] }).house_usd).toBe('0.00045');
    const { usage, ...rest } = unit;
    const failed = chargeFor({ ...rest, usage: null, reported: usage ?? {}, outcome: 'failed', traffic });
    expect(failed.house_usd).toBe('0.0045');
  });

  it.each([
    ['a finish was seen and usage came in time', true, 2_000, '0.00225', false],
    ['usage came too late', true, 2_001, '0.000225', true],
    ['no usage came', true, null, '0.000225', true],
    ['no finish was seen', false, 1, '0.000225', true],
  ])('client gone: %s', (_case, finishSeen, usageAfterMs, cost, estimated) => {
    const charge = chargeFor({ ...unit, traffic, disconnect: { finishSeen, usageAfterMs } });
    expect(charge).toMatchObject({ cost_usd: cost, usage_estimated: estimated });
  });

  it('lets what the provider had reported before the client left stand', () => {
    const reported = { prompt_tokens: 1000, cached_tokens: 900 };
    const disconnect = { finishSeen: false, usageAfterMs: null };
    const charge = chargeFor({ ...unit, usage: null, reported, traffic, disconnect });
    expect(charge.usage).toEqual({ ...reported, completion_tokens: 10 });
    expect(charge.cost_usd).toBe('0.00036');
  });

  it('estimates a finished answer without usage', () => {
    const charge = chargeFor({ ...unit, usage: null, traffic });
    expect(charge).toMatchObject({ cost_usd: '0.000225', usage_estimated: true });
  });

  it('charges "0", not null, for a free model and for BYOK at fee 0', () => {
    expect(chargeFor({ ...unit, record: { ...record, is_free: true } }).cost_usd).toBe('0');
    expect(chargeFor({ ...unit, byok: { served: true, feePct: '0' } }).cost_usd).toBe('0');
  });
});
