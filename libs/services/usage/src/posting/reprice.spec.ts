import type { CatalogueModel, CatalogueSnapshot, UsageRecord } from '@gateway/contracts';
import { price } from '@gateway/money';
import { pino } from 'pino';
import { catalogueModel, CatalogueReaderDouble, usageRecord } from '@gateway/testing';
import { priceLineView } from './price-lines.js';
import { Reprice } from './reprice.js';

const catalogue = new CatalogueReaderDouble();
const OLD = catalogue.serve(modelAt('1'));
const NEW = catalogue.serve(modelAt('2'));

function modelAt(rate: string): CatalogueModel {
  const price = { prompt_usd_per_1m: rate, completion_usd_per_1m: rate };
  return catalogueModel('acme/swift', [{ provider: 'hosty', upstreamModel: 'swift-1', price }]);
}

function priced(by: CatalogueSnapshot, named: CatalogueSnapshot): UsageRecord {
  const usage = { prompt_tokens: 1_000, completion_tokens: 500 };
  const [{ routes }] = by.models;
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
    reprice = new Reprice(
      { priced: (finding: string) => findings.push(finding) },
      pino({ level: 'silent' }),
      catalogue,
    );
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

  it('issue 37 prices by the window that held when the provider was called, and says which that was', async () => {
    const window = { name: 'peak', hours_utc: ['01:00-04:00'], prices: { completion_usd_per_1m: '4' } };
    const model = modelAt('1');
    model.routes[0].price = {
      ...model.routes[0].price,
      windows: [{ ...window, prices: { ...window.prices, prompt_usd_per_1m: '4' } }],
    };
    const snapshot = catalogue.serve(model);
    const unit = priced(OLD, snapshot);
    const at = (priced_at: string | undefined): UsageRecord => {
      const from = unit.priced_from as NonNullable<UsageRecord['priced_from']>;
      return { ...unit, priced_from: { ...from, ...(priced_at === undefined ? {} : { priced_at }) } };
    };
    const again = async (priced_at?: string): Promise<unknown[]> => [
      await reprice.again(at(priced_at)),
      await reprice.window(at(priced_at)),
    ];
    expect(await again('2026-11-27T00:59:59.999Z')).toEqual(['0.0015', null]);
    expect(await again('2026-11-27T01:00:00.000Z')).toEqual(['0.006', 'peak']);
    expect(await again('2026-11-27T04:00:00.000Z')).toEqual(['0.0015', null]);
    // A record of an earlier release, which knew the standard price alone.
    expect(await again()).toEqual(['0.0015', undefined]);
  });

  it('READ-53 the lines of a bill are the formula over the record and its snapshot, and add up to the cost', async () => {
    expect(await reprice.lines(priced(OLD, OLD))).toEqual([
      { line: 'fresh', quantity: '1000', unit: '1M tokens', rate_usd: '1', amount_usd: '0.001' },
      { line: 'completion', quantity: '500', unit: '1M tokens', rate_usd: '1', amount_usd: '0.0005' },
    ]);
    expect(await reprice.lines(usageRecord())).toBeNull();
  });

  it.each([
    ['1/3', '0.333333333333333333'],
    ['0.5/3', '0.166666666666666666'],
    ['200/1.5', '133.333333333333333333'],
    ['6/3', '2'],
    ['12.50', '12.50'],
  ])('writes %s as a decimal', (quantity, shown) => {
    expect(priceLineView({ class: 'audio_second', quantity, rate: '1', usd: '0' })).toMatchObject({
      unit: 'minute',
      quantity: shown,
    });
  });
});
