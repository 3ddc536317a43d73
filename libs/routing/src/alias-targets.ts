import { ApiError, type Alias, type CatalogueModel, type KeyPrincipal } from '@gateway/contracts';
import type { CatalogueIndex } from './catalogue-index.js';
import { accessOf, visibleTo } from './model-access.js';

interface AliasOptions {
  index: CatalogueIndex;
  principal: Pick<KeyPrincipal, 'access' | 'fixedProvider' | 'orgId'>;
  nowMs: number;
}

/** A model that a name stands for, with its share. */
export interface WeightedModel {
  model: CatalogueModel;
  weight: number;
}

/** Returns the targets with a weight that the caller may use: a list permits a target by its id or by the alias. */
export function usableTargets(
  { name, targets }: Alias,
  { index, principal, nowMs }: AliasOptions,
): WeightedModel[] {
  const isVisible = visibleTo(principal, nowMs, name);
  return targets.flatMap(({ model: id, weight }) => {
    const model = index.byExactId(id);
    return model !== null && weight > 0 && isVisible(model) ? [{ model, weight }] : [];
  });
}

/**
 * The same of an alias that is asked for. Throws ApiError model_excluded where a block-list leaves no target,
 * model_not_found where anything else does.
 */
export function requireTargets(alias: Alias, options: AliasOptions): WeightedModel[] {
  const { index, principal, nowMs } = options;
  const usable = usableTargets(alias, options);
  if (usable.length > 0) return usable;
  const { access } = principal;
  const isBlocked = alias.targets.some(
    ({ model, weight }) => weight > 0 && accessOf(access, model, alias.name) === 'blocked',
  );
  if (isBlocked) throw new ApiError('model_excluded', { param: 'model' });
  throw index.unknown(alias.name, visibleTo(principal, nowMs));
}

/**
 * Returns all of them in the order in which they are tried: the drawn one first, then the others by weight. `point` is
 * from 0 to below 1, equally likely everywhere.
 */
export function drawn(targets: readonly WeightedModel[], point: number): WeightedModel[] {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  let left = point * total;
  const at = targets.findIndex(({ weight }) => (left -= weight) < 0);
  const first = targets[Math.max(0, at)];
  const others = targets.filter((one) => one !== first).toSorted((a, b) => b.weight - a.weight);
  return [first, ...others];
}
