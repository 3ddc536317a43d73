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
