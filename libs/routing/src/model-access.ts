import { ApiError, type ModelAccess } from '@gateway/contracts';
import { unknownModel } from './catalogue-index.js';

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
 * Throws 403 model_excluded for a block-list hit and 404 model_not_found for an allow-list miss (decisions.md), 403
 * forbidden where nothing is to be hidden.
 */
export function requireAccess(
  access: readonly ModelAccess[],
  modelId: string,
  outside: 'model_not_found' | 'forbidden' = 'model_not_found',
): void {
  const verdict = accessOf(access, modelId);
  if (verdict === 'blocked') throw new ApiError('model_excluded', { param: 'model' });
  if (verdict === 'allowed') return;
  if (outside === 'model_not_found') throw unknownModel(modelId);
  throw new ApiError('forbidden', { message: `The key may not use ${modelId}.`, param: 'model' });
}
