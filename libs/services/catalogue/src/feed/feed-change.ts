import { changedFields, targetOf } from '../seed/model-fields.js';
import type { SeedModel } from '../seed/seed-record.js';
import { FeedRefused } from '../signed/envelope.js';
import { isReshaped, movesBeyond, movesByFactor, priceMoves, type PriceMove } from './price-moves.js';

/** Share of the models above which a document that drops them has to be forced. */
const REMOVED_SHARE_MAX = 0.1;
const FACTOR_MAX = 10n;

/** `apply` takes all, `ask` nothing, `apply_below` new models and what moves no rate by more than a percentage. */
export interface FeedPolicy {
  policy: 'apply' | 'ask' | 'apply_below';
  belowPct: number;
}

interface RouteMove extends PriceMove {
  provider: string;
  upstream_model: string;
}

/** A model that a document would change. */
export interface FeedChange {
  model: string;
  kind: 'added' | 'changed' | 'removed';
  /** Names of fields; none for a model that is added or removed. */
  fields: string[];
  prices: RouteMove[];
  before: SeedModel | null;
  after: SeedModel | null;
}

/** Returns the changes that make of one list of models the other, by id. */
export function feedChanges(base: readonly SeedModel[], document: readonly SeedModel[]): FeedChange[] {
  const before = new Map(base.map((model) => [model.id, model]));
  const after = new Map(document.map((model) => [model.id, model]));
  const ids = [...new Set([...before.keys(), ...after.keys()])].sort();
  return ids.flatMap((id): FeedChange[] => {
    const [old = null, next = null] = [before.get(id), after.get(id)];
    const change = { model: id, before: old, after: next, fields: [], prices: [] };
    if (old === null) return [{ ...change, kind: 'added' }];
    if (next === null) return [{ ...change, kind: 'removed' }];
    const fields = changedFields(old, next);
    return fields.length === 0 ? [] : [{ ...change, kind: 'changed', fields, prices: routeMoves(old, next) }];
  });
}

function routeMoves(before: SeedModel, after: SeedModel): RouteMove[] {
  const known = new Map(before.routes.map((route) => [targetOf(route), route]));
  return after.routes.flatMap((route) => {
    const old = known.get(targetOf(route));
    const { provider, upstream_model } = route;
    if (old === undefined) return [];
    return priceMoves(old.price, route.price).map((move) => ({ provider, upstream_model, ...move }));
  });
}

/** Throws FeedRefused for changes that look like a mistake, with the worst of them in the sentence. */
export function refuseUnlikely(changes: readonly FeedChange[], base: readonly SeedModel[]): void {
  const removed = changes.filter(({ kind }) => kind === 'removed').length;
  if (removed > base.length * REMOVED_SHARE_MAX)
    throw new FeedRefused('guard', `It would drop ${removed} of ${base.length} models.`);
  const moves = changes.flatMap(({ model, prices }) => prices.map((move) => ({ model, ...move })));
  const emptied = moves.find(({ from, to }) => from !== null && to === null);
  if (emptied !== undefined) throw new FeedRefused('guard', `It would empty ${placeOf(emptied)}.`);
  const zeroed = moves.find((move) => isZero(move.to) && movesByFactor(move, FACTOR_MAX));
  if (zeroed !== undefined) throw new FeedRefused('guard', `It would make ${placeOf(zeroed)} free.`);
  const [far] = moves
    .filter((move) => movesByFactor(move, FACTOR_MAX))
    .sort((one, other) => distance(other) - distance(one));
  if (far !== undefined)
    throw new FeedRefused('guard', `It would move ${placeOf(far)} from ${far.from} to ${far.to}.`);
}

function isZero(rate: string | null): boolean {
  return rate !== null && /^[0.]+$/.test(rate);
}

/** Orders moves for the sentence alone: no money is made of it. */
function distance({ from, to }: PriceMove): number {
  return Math.abs(Math.log(Number(to)) - Math.log(Number(from)));
}

function placeOf({ model, window, field, provider }: RouteMove & { model: string }): string {
  return `${field}${window === null ? '' : ` of the window ${window}`} of ${model} at ${provider}`;
}

/** True if the policy takes the change by itself. */
export function isTaken(change: FeedChange, { policy, belowPct }: FeedPolicy): boolean {
  const { kind, prices, before, after } = change;
  if (policy !== 'apply_below') return policy === 'apply';
  if (kind !== 'changed' || before === null || after === null) return kind === 'added';
  const next = new Map(after.routes.map((route) => [targetOf(route), route]));
  const isKept = before.routes.every((route) => {
    const route2 = next.get(targetOf(route));
    return route2 !== undefined && !isReshaped(route.price, route2.price);
  });
  return isKept && !prices.some((move) => movesBeyond(move, belowPct));
}

/** Returns the models with these changes made. */
export function withChanges(base: readonly SeedModel[], changes: readonly FeedChange[]): SeedModel[] {
  const made = new Map(base.map((model) => [model.id, model]));
  for (const { model, after } of changes)
    if (after === null) made.delete(model);
    else made.set(model, after);
  return [...made.values()];
}
