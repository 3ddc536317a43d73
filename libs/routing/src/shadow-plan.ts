import type { Alias, AliasShadow } from '@gateway/contracts';
import { usableTargets } from './alias-targets.js';
import type { Plan } from './plan.js';
import { has, survey, type PlanOptions } from './survey.js';

/** An alias of which a sample of the requests goes to a second model. */
export type ShadowedAlias = Alias & { readonly shadow: AliasShadow };

/** Credential by which breakers know shadows, as they know a provider key: results of these decide nothing for callers. */
export const SHADOW_CREDENTIAL = 'shadow';

/**
 * Returns the plan of a shadow for the caller whose request it repeats: the first route of the second model that could
 * serve that caller on the platform's credentials, alone, so that nothing is paid twice. Null where the caller's lists,
 * pin, policy or request leave none.
 */
export function planShadow(alias: ShadowedAlias, options: PlanOptions): Plan | null {
  const { asked, breakers, index, principal } = options;
  if (asked.alsoUses !== undefined) return null;
  // Its access is that of a target: a list permits it by its id or by the alias.
  const targets = [{ model: alias.shadow.model, weight: 1 }];
  const model = usableTargets({ ...alias, targets }, options).at(0)?.model;
  if (model === undefined || !has(model.record, asked.serves)) return null;
  // The platform pays the list price.
  const { routes } = survey(model, { ...options, principal: { ...principal, discount: null } });
  const route = routes.find(
    (one) =>
      one.providerKey === undefined &&
      !breakers.isOpen(one.route, undefined, principal.accountId) &&
      !breakers.isOpen(one.route, SHADOW_CREDENTIAL),
  );
  if (route === undefined) return null;
  return {
    ...{ model, requestedModel: alias.name, snapshotId: index.snapshot.id },
    ...{ routes: [route], alias, unread: [] },
  };
}
