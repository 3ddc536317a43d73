import type { CatalogueReader, CatalogueSnapshot, UsageRecord } from '@gateway/contracts';
import { price } from '@gateway/money';
import { pino } from 'pino';
import { usageRecord } from '@gateway/testing';
import { Reprice } from './reprice.js';

const OLD = { id: 'snap_old', rate: '1' };
const NEW = { id: 'snap_new', rate: '2' };

function snapshot({ id, rate }: typeof OLD): CatalogueSnapshot {
  const route = {
    ...{ provider: 'hosty', model: 'acme/swift', upstreamModel: 'swift-1', dialect: 'chat' },
    price: { prompt_usd_per_1m: rate, completion_usd_per_1m: rate },
  };
  return {
    id,
    created_at: '2026-11-20T10:00:00.000Z',
    models: [{ routes: [route] }],
    providers: [],
  } as never;
}

function priced(by: typeof OLD, named: typeof OLD): UsageRecord {
  const usage = { prompt_tokens: 1_000, completion_tokens: 500 };
  const [{ routes }] = snapshot(by).models;
  const from = {
    tier: 'default',
    discount_pct: null,
    byok_served: false,
    byok_fee_pct: '0',
    context: {},
  } as const;
  const { cost_usd } = price({
    ...{ usage, record: routes[0].price, tier: from.tier, discountPct: null, context: from.context },
    byok: { served: false, feePct: '0' },
  });
  const named_ = { ...from, snapshot_id: named.id, provider: 'hosty', upstream_model: 'swift-1' };
  return usageRecord({ usage, cost_usd, priced_from: named_ });
}

describe('pricing a unit again', () => {
  let findings: string[];
  let reprice: Reprice;
  beforeEach(() => {
    findings = [];
    const catalogue = {
      snapshotById: async (id: string) => [OLD, NEW].map(snapshot).find((known) => known.id === id) ?? null,
    };
    reprice = new Reprice({
      catalogue: () => catalogue as unknown as CatalogueReader,
      metrics: { priced: (finding: string) => findings.push(finding) } as never,
      logger: pino({ level: 'silent' }),
    });
  });

  it('B15 a price that changed in flight: the snapshot that the record names wins, old and new side by side', async () => {
    const [old, fresh] = [priced(OLD, OLD), priced(NEW, NEW)];
    expect([old.cost_usd, fresh.cost_usd]).toEqual(['0.0015', '0.003']);
    await reprice.check([old, fresh]);
    expect(findings).toEqual([]);
  });

  it('B15 a unit that was priced by another snapshot than it names is a finding', async () => {
    await reprice.check([priced(NEW, OLD), priced(OLD, NEW)]);
    expect(findings).toEqual(['different', 'different']);
  });
});
