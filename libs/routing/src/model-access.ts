import { ApiError, type CatalogueModel, type KeyPrincipal, type ModelAccess } from '@gateway/contracts';
import { unknownModel, type Visible } from './catalogue-index.js';

/** Exact id, or a brand wildcard of the form `<brand>/*`. */
export function matchesModel(patterns: readonly string[], modelId: string): boolean {
  const wildcard = `${modelId.slice(0, modelId.indexOf('/'))}/*`;
  return patterns.some((pattern) => pattern === modelId || pattern === wildcard);
}

/** May this caller use the model? Every present allow-list must match, any block-list excludes and wins. */
export function accessOf(
  access: readonly ModelAccess[],
  modelId: string,
): 'allowed' | 'not_allowed' | 'blocked' {
  if (access.some((lists) => lists.blocked !== null && matchesModel(lists.blocked, modelId)))
    return 'blocked';
  return access.every((lists) => lists.allowed === null || matchesModel(lists.allowed, modelId))
    ? 'allowed'
    : 'not_allowed';
}

/**
 * Returns a test for the models that a key may call: those of its lists, of its provider, and with a route that has
 * not retired.
 */
export function visibleTo(
  { access, fixedProvider }: Pick<KeyPrincipal, 'access' | 'fixedProvider'>,
  nowMs: number,
): Visible {
  return ({ record, routes }: CatalogueModel) =>
    accessOf(access, record.id) === 'allowed' &&
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
