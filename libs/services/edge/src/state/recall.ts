import { ApiError, type RecalledItems, type ResponseStore } from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import type { CatalogueIndex } from '@gateway/routing';
import type { Call } from '../request/call.js';

export interface RecallDeps {
  store: ResponseStore;
  index: () => CatalogueIndex;
}

/** The request with all that was said before it. Throws resource_not_found where the key has no such response. */
export async function recall(
  asked: Asked,
  { endpoint: { state }, memory, principal }: Pick<Call, 'endpoint' | 'memory' | 'principal'>,
  { store, index }: RecallDeps,
): Promise<Asked> {
  const found = state?.link(asked) ?? null;
  if (!state || found === null) return asked;
  const look = (): Promise<RecalledItems | null> => store.recall(principal.keyId, found.link);
  const recalled = await (memory ? memory.recall(found.link, look) : look());
  if (recalled === null) throw new ApiError('resource_not_found', { param: found.param });
  const { credential, items } = recalled;
  const name = asked.model ?? principal.defaultModel;
  const provider = credential?.split('#', 1)[0];
  const isOwn =
    provider !== undefined &&
    name !== null &&
    index()
      .model(name)
      .routes.some((route) => route.provider === provider);
  return { ...state.recalled(asked, items, isOwn), ...(isOwn ? { credential } : {}) };
}

const REFERENCES_MAX = 256;

/** The request with the items that it names by their ids. Throws resource_not_found for one that the key does not have. */
export async function resolve(
  asked: Asked,
  { endpoint: { state }, principal }: Pick<Call, 'endpoint' | 'principal'>,
  { store }: RecallDeps,
): Promise<Asked> {
  const references = state?.references(asked) ?? [];
  if (!state || references.length === 0) return asked;
  if (references.length > REFERENCES_MAX)
    throw new ApiError('validation_error', {
      message: `input: at most ${REFERENCES_MAX} item references`,
      param: 'input',
    });
  const items = await store.items(principal.keyId, [...new Set(references.map(({ id }) => id))]);
  const missing = references.find(({ id }) => !items.has(id));
  if (missing) throw new ApiError('resource_not_found', { param: missing.param });
  return state.resolved(asked, items);
}
