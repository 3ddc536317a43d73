import type { PriceMatrixRow, PriceRecord, PriceTier, UnitUsage } from '@gateway/contracts';
import { readFileSync } from 'node:fs';
import {
  chargeFor,
  discounted,
  priceLines,
  reservation,
  servesTier,
  settledNano,
  validatePriceRecord,
} from './index.js';
import type { Charge, ChargeCase, PriceLine } from './index.js';

interface Vector {
  name: string;
  price: PriceRecord;
  tier: PriceTier;
  discount_pct: string | null;
  byok: { served: boolean; fee_pct: string };
  usage: UnitUsage;
  context: {
    outcome?: 'cached' | 'failed';
    failed_attempts?: (UnitUsage | null)[];
    disconnect?: {
      finish_seen: boolean;
      usage_after_ms: number;
      input_bytes: number;
      input_images: number;
      output_bytes: number;
    };
    reserve?: {
      input_bytes: number;
      input_images: number;
      max_tokens: number | null;
      max_output_tokens?: number;
      p95_output_tokens: number | null;
    };
  } & Record<string, unknown>;
  expect: {
    cost_usd: string | null;
    lines: PriceLine[];
    refused?: { at: 'admission' | 'import' };
    settled_nano?: number;
    house_usd?: string;
    usage_estimated?: boolean;
    discounted?: Record<string, string>;
    worst_case_nano?: number;
    reserved_nano?: number;
  };
}

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('./pricing-examples.json', import.meta.url), 'utf8'),
);
const refused = vectors.filter((vector) => vector.expect.refused);
const reserved = vectors.filter((vector) => vector.context.reserve);
const charged = vectors.filter((vector) => !refused.includes(vector) && !reserved.includes(vector));

function caseOf({ context, ...vector }: Vector): ChargeCase {
  const { outcome = 'served', failed_attempts: failedAttempts = [], disconnect, ...result } = context;
  const dimensions: Record<string, string | boolean> = {};
  for (const [key, value] of Object.entries(result)) {
    if (typeof value === 'string' || typeof value === 'boolean') dimensions[key] = value;
  }
  return {
    outcome,
    usage: vector.usage,
    record: vector.price,
    tier: vector.tier,
    discountPct: vector.discount_pct,
    byok: { served: vector.byok.served, feePct: vector.byok.fee_pct },
    context: dimensions,
    failedAttempts: failedAttempts.map((usage) => ({
      record: vector.price,
      tier: vector.tier,
      byokServed: false,
      context: {},
      usage,
      traffic: null,
    })),
    disconnect: disconnect
      ? { finishSeen: disconnect.finish_seen, usageAfterMs: disconnect.usage_after_ms }
      : null,
    traffic: disconnect
      ? {
          inputBytes: disconnect.input_bytes,
          inputImages: disconnect.input_images,
          outputBytes: disconnect.output_bytes,
        }
      : null,
  };
}

describe('the design’s pricing examples', () => {
  it('are all 60 covered, each by one of the tables below', () => {
    expect([charged.length, refused.length, reserved.length]).toEqual([56, 2, 2]);
  });

  it.each(charged.map((vector) => [vector.name, vector] as const))('charges %s', (_name, vector) => {
    const unit = caseOf(vector);
    const charge: Charge = chargeFor(unit);
    const { expect: wanted } = vector;
    expect(charge.cost_usd).toBe(wanted.cost_usd);
    expect(charge.usage ? priceLines({ ...unit, usage: charge.usage }) : []).toEqual(wanted.lines);
    expect(charge.house_usd).toBe(wanted.house_usd ?? '0');
    expect(charge.usage_estimated).toBe(wanted.usage_estimated ?? false);
    if (wanted.settled_nano !== undefined) {
      expect(settledNano(charge.cost_usd ?? '')).toBe(BigInt(wanted.settled_nano));
    }
    if (wanted.discounted) {
      expect(discounted(vector.price, vector.discount_pct ?? '')).toEqual(wanted.discounted);
    }
  });

  it.each(refused.map((vector) => [vector.name, vector] as const))('refuses %s', (_name, vector) => {
    if (vector.expect.refused?.at === 'admission') {
      expect(servesTier(vector.price, vector.tier)).toBe(false);
      expect(() => chargeFor(caseOf(vector))).toThrow(RangeError);
      return;
    }
    const fault = { loc: ['price_matrix'], msg: expect.stringContaining('plain rate') };
    expect(validatePriceRecord(vector.price, 'image')).toEqual([fault]);
    const lastRow: PriceMatrixRow = { when: {}, usd_per_unit: '0.3' };
    const repaired = { ...vector.price, price_matrix: [...(vector.price.price_matrix ?? []), lastRow] };
    expect(validatePriceRecord(repaired, 'image')).toEqual([]);
  });

  it.each(reserved.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const { reserve } = vector.context;
    const held = reservation({
      routes: [
        {
          record: vector.price,
          discountPct: vector.discount_pct,
          byok: { served: false, feePct: '0' },
          maxOutputTokens: reserve?.max_output_tokens ?? null,
          contextLength: null,
          p95OutputTokens: reserve?.p95_output_tokens ?? null,
        },
      ],
      tier: vector.tier,
      input: { inputBytes: reserve?.input_bytes ?? 0, inputImages: reserve?.input_images },
      maxTokens: reserve?.max_tokens ?? null,
      context: {},
    });
    expect(held).toMatchObject({
      worst_case_nano: BigInt(vector.expect.worst_case_nano ?? -1),
      reserved_nano: BigInt(vector.expect.reserved_nano ?? -1),
    });
  });
});
