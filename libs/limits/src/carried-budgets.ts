import type { BudgetGrant, KeyPrincipal } from '@gateway/contracts';

/** Tags and end user that a request carries beside its key. */
export interface Carried {
  /** Tags of the key and of the request. */
  tags: Readonly<Record<string, string>>;
  /** HMAC of its end user's id; null where it names none. */
  endUserHash: string | null;
}

type ByScope = ReadonlyMap<string, readonly BudgetGrant[]>;

/** Budgets of an organization by what a request carries: their list is one array for all requests of a principal. */
const indexes = new WeakMap<readonly BudgetGrant[], ByScope>();

/**
 * Returns the budgets that count a request: those of its key, and of the tags and the end user that it carries; undefined where there
 * are none. A tag of the key counts though the request has another value of that name.
 */
export function budgetsOf(
  { budgets, carriedBudgets, requestTags }: Pick<KeyPrincipal, 'budgets' | 'carriedBudgets' | 'requestTags'>,
  { tags, endUserHash }: Carried,
): readonly BudgetGrant[] | undefined {
  if (carriedBudgets === undefined) return budgets;
  const byScope = indexOf(carriedBudgets);
  const found: BudgetGrant[] = [];
  const add = (scope: string): void => void found.push(...(byScope.get(scope) ?? []));
  for (const name in tags) add(`tag:${name}=${tags[name]}`);
  for (const name in requestTags)
    if (tags[name] !== requestTags[name]) add(`tag:${name}=${requestTags[name]}`);
  if (endUserHash !== null) add(`end_user:${endUserHash}`);
  if (found.length === 0) return budgets;
  return budgets === undefined ? found : [...budgets, ...found];
}

function indexOf(budgets: readonly BudgetGrant[]): ByScope {
  let index = indexes.get(budgets);
  if (index === undefined) {
    index = Map.groupBy(budgets, ({ scope, scopeId }) => `${scope}:${scopeId}`);
    indexes.set(budgets, index);
  }
  return index;
}
