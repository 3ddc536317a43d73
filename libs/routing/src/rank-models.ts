import type { CatalogueModel, CatalogueSnapshot, KeyPrincipal, Route } from '@gateway/contracts';
import { priceAt } from '@gateway/money';
import type { Need } from '@gateway/endpoints';
import { accessOf } from './model-access.js';
import type { RouteStats } from './route-stats.js';
import { has } from './survey.js';

export const OPTIMIZE = ['quality', 'cost', 'latency', 'balanced'] as const;
export type Optimize = (typeof OPTIMIZE)[number];

/** The purpose for which a model is chosen. */
export interface Wanted {
  /** A model that lacks one is no candidate. */
  needs: readonly Need[];
  inputTokens: number;
  outputTokens: number;
  /** 0 for a short question, 1 for long work with tools and reasoning. */
  difficulty: number;
  optimize: Optimize;
}

export interface RankedModel {
  model: CatalogueModel;
  /** Its cheapest living route. */
  route: Route;
  /** 0 to 1. */
  score: number;
  reasons: string[];
}

interface RankOptions {
  snapshot: CatalogueSnapshot;
  principal: Pick<KeyPrincipal, 'access' | 'fixedProvider'>;
  providers: Pick<ReadonlyMap<string, unknown>, 'has'>;
  stats: RouteStats;
  nowMs: number;
}

/** Shares of the score; docs/routing.md publishes them. */
const WEIGHTS: Readonly<Record<Optimize, { quality: number; cost: number; latency: number }>> = {
  balanced: { quality: 0.4, cost: 0.4, latency: 0.2 },
  quality: { quality: 0.8, cost: 0.1, latency: 0.1 },
  cost: { quality: 0.1, cost: 0.8, latency: 0.1 },
  latency: { quality: 0.15, cost: 0.15, latency: 0.7 },
};
/** Part of the weight that moves from cost to quality for the hardest request. */
const DIFFICULTY_SHIFT = 0.2;
const MONTH_MS = 30 * 86_400_000;
const OLD_MONTHS = 36;

/**
 * The models that the caller may use and that can serve what is wanted, the best first. Free models stand behind all
 * others: their small allowance is for who names them. Equal scores go by id, so that the same question has the same
 * answer.
 */
export function rankModels(wanted: Wanted, options: RankOptions): RankedModel[] {
  const candidates = options.snapshot.models.flatMap((model) => candidate(model, wanted, options) ?? []);
  const costs = candidates.map(({ route }) => costOf(route, wanted, options.nowMs));
  const latencies = candidates.map(({ route }) => options.stats.latencyMs(route, options.nowMs));
  const dearest = Math.max(0, ...costs);
  const slowest = Math.max(0, ...latencies.map((ms) => ms ?? 0));
  const weights = weightsFor(wanted);
  return candidates
    .map(({ model, route }, at): RankedModel => {
      const quality = qualityOf(model, options.nowMs);
      // On a scale of powers: a tenth of the price counts, whatever the dearest costs.
      const cost = dearest === 0 ? 1 : 1 - Math.log1p(costs[at] * 1e6) / Math.log1p(dearest * 1e6);
      const latency = latencies[at];
      const speed = latency === null || slowest === 0 ? 0.5 : 1 - latency / slowest;
      const uptime = options.stats.uptime(route, options.nowMs);
      const sum = weights.quality * quality + weights.cost * cost + weights.latency * speed;
      const reasons = [`quality ${percent(quality)}`, `cost ${percent(cost)}`, `speed ${percent(speed)}`];
      if (uptime < 1) reasons.push(`uptime ${percent(uptime)}`);
      if (model.record.is_free) reasons.push('free');
      return { model, route, score: Math.round(sum * uptime * 10_000) / 10_000, reasons };
    })
    .sort(
      (a, b) =>
        Number(a.model.record.is_free) - Number(b.model.record.is_free) ||
        b.score - a.score ||
        (a.model.record.id < b.model.record.id ? -1 : 1),
    );
}

function candidate(
  model: CatalogueModel,
  { needs, inputTokens }: Wanted,
  { principal, providers, nowMs }: RankOptions,
): { model: CatalogueModel; route: Route } | null {
  const { record, routes } = model;
  if (accessOf(principal.access, record.id) !== 'allowed') return null;
  if (record.context_length <= inputTokens || !needs.every((need) => has(record, need))) return null;
  const callable = routes.filter(
    ({ provider, retiresAtMs = Infinity }) =>
      retiresAtMs > nowMs &&
      providers.has(provider) &&
      (principal.fixedProvider === null || provider === principal.fixedProvider),
  );
  if (callable.length === 0) return null;
  const route = callable.reduce((best, other) =>
    plainPrice(other, nowMs) < plainPrice(best, nowMs) ? other : best,
  );
  return { model, route };
}

function plainPrice(route: Route, nowMs: number): number {
  const price = priceAt(route.price, nowMs).record;
  return Number(price.prompt_usd_per_1m ?? 0) + Number(price.completion_usd_per_1m ?? 0);
}

/** USD, for comparing only: what is billed is never a float. */
function costOf(route: Route, { inputTokens, outputTokens }: Wanted, nowMs: number): number {
  const price = priceAt(route.price, nowMs).record;
  if (price.is_free) return 0;
  const tokens =
    Number(price.prompt_usd_per_1m ?? 0) * inputTokens +
    Number(price.completion_usd_per_1m ?? 0) * outputTokens;
  return tokens / 1e6 + Number(price.request_usd ?? 0);
}

/** Returns a rating of the record: abilities, context (4 Ki to 1 Mi tokens on a scale of powers) and age. */
function qualityOf({ record, released }: CatalogueModel, nowMs: number): number {
  const context = Math.min(1, Math.max(0, Math.log2(record.context_length / 4_096) / 8));
  const ageMonths = released == null ? OLD_MONTHS : (nowMs - Date.parse(released)) / MONTH_MS;
  const youth = Math.min(1, Math.max(0, 1 - ageMonths / OLD_MONTHS));
  return (
    0.25 * Number(record.supports_thinking) +
    0.2 * Number(record.supports_tools) +
    0.15 * Number(record.supports_structured_output) +
    0.2 * context +
    0.2 * youth
  );
}

function weightsFor({ optimize, difficulty }: Wanted): (typeof WEIGHTS)[Optimize] {
  const weights = WEIGHTS[optimize];
  if (optimize !== 'balanced') return weights;
  const shift = DIFFICULTY_SHIFT * difficulty;
  return { ...weights, quality: weights.quality + shift, cost: weights.cost - shift };
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
