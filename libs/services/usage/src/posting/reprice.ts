import { Inject, Injectable, Optional } from '@nestjs/common';
import { LOGGER } from '@gateway/platform';
import {
  CatalogueReader,
  type CatalogueSnapshot,
  type PriceLineView,
  type Route,
  type UsageRecord,
} from '@gateway/contracts';
import { price, priceAt, priceLines, type PriceInput } from '@gateway/money';
import type { Logger } from 'pino';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { UsageMetrics } from '../usage-metrics.js';
import { priceLineView } from './price-lines.js';

const SNAPSHOTS_KEPT = 8;
const LOGGED_PER_BATCH = 5;
/** A few milliseconds: whatever else waits for the processor goes between. */
const UNITS_PER_TICK = 256;

type Routes = ReadonlyMap<string, Route>;

/** The facts that a price is made from. */
export type PricedUnit = Pick<UsageRecord, 'model' | 'usage' | 'priced_from'>;

/**
 * Prices units again from the snapshot that their records name. The edge's cost stands; a difference is a finding for
 * an alarm. Never throws.
 */
@Injectable()
export class Reprice {
  private readonly routes = new Map<string, Routes>();

  constructor(
    @Inject(UsageMetrics) private readonly metrics: Pick<UsageMetrics, 'priced'>,
    @Inject(LOGGER) private readonly logger: Logger,
    /** Prices are checked only where a catalogue is at hand. */
    @Optional()
    @Inject(CatalogueReader)
    private readonly catalogue: Pick<CatalogueReader, 'snapshotById'> | null = null,
  ) {}

  async check(units: readonly UsageRecord[]): Promise<void> {
    let logged = 0;
    let checked = 0;
    for (const [snapshotId, priced] of Map.groupBy(units, (unit) => unit.priced_from?.snapshot_id ?? null)) {
      const routes = snapshotId === null ? null : await this.routesOf(snapshotId);
      for (const unit of priced) {
        if (!unit.cost_usd) continue;
        if ((checked += 1) % UNITS_PER_TICK === 0) await yieldToEventLoop();
        const cost = routes === null ? undefined : costOf(unit, routes);
        if (cost === unit.cost_usd) continue;
        this.metrics.priced(cost === undefined ? 'unknown' : 'different');
        if (cost === undefined || (logged += 1) > LOGGED_PER_BATCH) continue;
        this.logger.error(
          {
            request_id: unit.request_id,
            unit: unit.unit,
            snapshot_id: snapshotId,
            cost_usd: unit.cost_usd,
            again_usd: cost,
          },
          'a unit has another price than its snapshot says',
        );
      }
    }
  }

  async knows(snapshotId: string): Promise<boolean> {
    return (await this.routesOf(snapshotId)) !== null;
  }

  /** Returns the cost of a unit by its own record and terms; null where the terms cannot be read. */
  async again(unit: PricedUnit): Promise<string | null> {
    const routes = unit.priced_from ? await this.routesOf(unit.priced_from.snapshot_id) : null;
    return (routes && costOf(unit, routes)) ?? null;
  }

  /**
   * Name of the price window that holds at the unit's instant by its snapshot, null for the standard price; undefined
   * where that cannot be read, and for units of releases that named none.
   */
  async window({ model, priced_from: from }: PricedUnit): Promise<string | null | undefined> {
    if (from?.priced_at === undefined) return undefined;
    const routes = await this.routesOf(from.snapshot_id);
    const route = routes?.get(routeName(model, from.provider, from.upstream_model));
    return route && priceAt(route.price, Date.parse(from.priced_at)).window;
  }

  /** The lines that a unit's cost adds up from; null where its snapshot cannot be read. */
  async lines(unit: PricedUnit): Promise<PriceLineView[] | null> {
    const routes = unit.priced_from ? await this.routesOf(unit.priced_from.snapshot_id) : null;
    const input = routes === null ? undefined : inputOf(unit, routes);
    const lines = input && tried(() => priceLines(input));
    return lines === undefined ? null : lines.map(priceLineView);
  }

  private async routesOf(snapshotId: string): Promise<Routes | null> {
    const known = this.routes.get(snapshotId);
    if (known !== undefined) return known;
    const { catalogue } = this;
    if (catalogue === null) return null;
    try {
      const snapshot = await catalogue.snapshotById(snapshotId);
      if (snapshot === null) return null;
      const routes = indexRoutes(snapshot);
      this.routes.set(snapshotId, routes);
      for (const oldest of this.routes.keys()) {
        if (this.routes.size <= SNAPSHOTS_KEPT) break;
        this.routes.delete(oldest);
      }
      return routes;
    } catch (failure) {
      this.logger.warn({ err: failure, snapshot_id: snapshotId }, 'a price snapshot could not be read');
      return null;
    }
  }
}

function indexRoutes(snapshot: CatalogueSnapshot): Routes {
  const routes = snapshot.models.flatMap((model) => model.routes);
  return new Map(routes.map((route) => [routeName(route.model, route.provider, route.upstreamModel), route]));
}

function routeName(model: string, provider: string, upstreamModel: string): string {
  return `${model}\n${provider}\n${upstreamModel}`;
}

/** undefined where the snapshot lacks the route or the usage cannot be priced. */
function costOf(unit: PricedUnit, routes: Routes): string | undefined {
  const input = inputOf(unit, routes);
  return input && tried(() => price(input).cost_usd);
}

function inputOf({ model, usage, priced_from: from }: PricedUnit, routes: Routes): PriceInput | undefined {
  if (!from) return undefined;
  const route = routes.get(routeName(model, from.provider, from.upstream_model));
  if (route === undefined) return undefined;
  return {
    usage,
    record: priceAt(route.price, from.priced_at === undefined ? null : Date.parse(from.priced_at)).record,
    tier: from.tier,
    discountPct: from.discount_pct,
    byok: { served: from.byok_served, feePct: from.byok_fee_pct },
    context: from.context,
  };
}

/** undefined for whatever cannot be priced: it is a finding, and must not stop what is posted. */
function tried<T>(priced: () => T): T | undefined {
  try {
    return priced();
  } catch {
    return undefined;
  }
}
