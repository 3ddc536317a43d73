import { ApiError, type CatalogueModel, type KeyPrincipal, type ModelAccess } from '@gateway/contracts';
import { unknownModel, type Visible } from './catalogue-index.js';

/** Exact id, or a brand wildcard of the form `<brand>/*`. A name without a slash has no brand. */
export function matchesModel(patterns: readonly string[], modelId: string): boolean {
  const slash = modelId.indexOf('/');
  const wildcard = slash < 0 ? null : `${modelId.slice(0, slash)}/*`;
  return patterns.some((pattern) => pattern === modelId || pattern === wildcard);
}

/**
 * May this caller use the model? Every present allow-list must match, any block-list excludes and wins. `alias` is the
 * name that the model is asked for by: a list that has it has the model.
 */
export function accessOf(
  access: readonly ModelAccess[],
  modelId: string,
  alias: string | null = null,
): 'allowed' | 'not_allowed' | 'blocked' {
  const has = (patterns: readonly string[]): boolean =>
    matchesModel(patterns, modelId) || (alias !== null && matchesModel(patterns, alias));
  if (access.some(({ blocked }) => blocked !== null && has(blocked))) return 'blocked';
  return access.every(({ allowed }) => allowed === null || has(allowed)) ? 'allowed' : 'not_allowed';
}

/**
 * Returns a test for the models that a key may call: those of its lists, of its provider, and with a route that has
 * not retired. `alias` is the name that they are asked for by.
 */
export function visibleTo(
  { access, fixedProvider }: Pick<KeyPrincipal, 'access' | 'fixedProvider'>,
  nowMs: number,
  alias: string | null = null,
): Visible {
  return ({ record, routes }: CatalogueModel) =>
    accessOf(access, record.id, alias) === 'allowed' &&
    (fixedProvider === null || routes.some(({ provider }) => provider === fixedProvider)) &&
    (routes.length === 0 || routes.some(({ retiresAtMs }) => (retiresAtMs ?? Infinity) > nowMs));
}

/**
 * Throws 403 model_excluded for a block-list hit and 404 model_not_found for an allow-list miss (libs/routing/README.md), 403
 * forbidden where nothing is to be hidden.
 */
export function requireAccess(
  access: readonly ModelAccess[],
  modelId: string,
  outside: 'model_not_found' | 'forbidden' = 'model_not_found',
  unknown: () => ApiError = () => unknownModel(modelId),
): void {
  const verdict = accessOf(access, modelId);
  if (verdict === 'blocked') throw new ApiError('model_excluded', { param: 'model' });
  if (verdict === 'allowed') return;
  if (outside === 'model_not_found') throw unknown();
  throw new ApiError('forbidden', { message: `The key may not use ${modelId}.`, param: 'model' });
}
