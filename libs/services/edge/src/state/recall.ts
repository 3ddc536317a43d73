import {
  ApiError,
  STORED_ID_MAX,
  type KeyPrincipal,
  type RecalledItems,
  type ResponseLink,
  type ResponseStore,
} from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import { isStorable, withRoom, type Closing, type Pressure } from '@gateway/platform';
import type { CatalogueIndex } from '@gateway/routing';
import type { Call } from '../request/call.js';
import type { Turns } from './turns.js';

export interface RecallDeps {
  store: ResponseStore;
  index: () => CatalogueIndex;
  /** A small request that goes on from a long chain holds as much as a large body. */
  pressure: Pick<Pressure, 'ofAccount'>;
  turns: Turns;
}

/**
 * Returns the conversation before, counted until `closing`; null where the key has no such response or conversation.
 */
export function earlier(
  link: ResponseLink,
  { keyId, accountId }: Pick<KeyPrincipal, 'keyId' | 'accountId'>,
  closing: Closing,
  { store, pressure, turns }: Pick<RecallDeps, 'store' | 'pressure' | 'turns'>,
): Promise<RecalledItems | null> {
  if (!isStorable('response_id' in link ? link.response_id : link.conversation_id))
    return Promise.resolve(null);
  return turns.take(accountId, () =>
    withRoom(pressure.ofAccount(accountId), closing, (makeRoom) => store.recall(keyId, link, makeRoom)),
  );
}

/**
 * The request with all that was said before it. Throws resource_not_found where the key has no such response,
 * service_unavailable where there is no room for it.
 */
export async function recall(
  asked: Asked,
  { endpoint: { state }, memory, principal }: Pick<Call, 'endpoint' | 'memory' | 'principal'>,
  closing: Closing,
  deps: RecallDeps,
): Promise<Asked> {
  const found = state?.link(asked) ?? null;
  if (!state || found === null) return asked;
  const look = (): Promise<RecalledItems | null> => earlier(found.link, principal, closing, deps);
  const recalled = await (memory ? memory.recall(found.link, look) : look());
  if (recalled === null) throw new ApiError('resource_not_found', { param: found.param });
  const { credential, items } = recalled;
  const name = asked.model ?? principal.defaultModel;
  const provider = credential?.split('#', 1)[0];
  const isOwn =
    provider !== undefined &&
    name !== null &&
    // A name that is none is refused where the request is planned.
    deps
      .index()
      .find(name)
      ?.routes.some((route) => route.provider === provider) === true;
  return { ...state.recalled(asked, items, isOwn), ...(isOwn ? { credential } : {}) };
}

const REFERENCES_MAX = 256;

/** The request with the items that it names by their ids. Throws resource_not_found for one that the key does not have. */
export async function resolve(
  asked: Asked,
  { endpoint: { state }, principal }: Pick<Call, 'endpoint' | 'principal'>,
  closing: Closing,
  { store, pressure, turns }: RecallDeps,
): Promise<Asked> {
  const references = state?.references(asked) ?? [];
  if (!state || references.length === 0) return asked;
  if (references.length > REFERENCES_MAX)
    throw new ApiError('validation_error', {
      message: `input: at most ${REFERENCES_MAX} item references`,
      param: 'input',
    });
  const ids = references.map(({ id }) => id);
  const twice = references.find(({ id }, at) => ids.indexOf(id) < at);
  // Each place would hold the item once more, however large it is.
  if (twice)
    throw new ApiError('validation_error', {
      message: `${twice.param}: the item is named twice`,
      param: twice.param,
    });
  const { accountId, keyId } = principal;
  // The service that stores refuses any other, which would be no answer about the id.
  const possible = ids.filter((id) => id.length <= STORED_ID_MAX && isStorable(id));
  const items = await turns.take(accountId, () =>
    withRoom(pressure.ofAccount(accountId), closing, (makeRoom) => store.items(keyId, possible, makeRoom)),
  );
  const missing = references.find(({ id }) => !items.has(id));
  if (missing) throw new ApiError('resource_not_found', { param: missing.param });
  return state.resolved(asked, items);
}
