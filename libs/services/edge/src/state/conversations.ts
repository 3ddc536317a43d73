import { Injectable } from '@nestjs/common';
import {
  ApiError,
  ResponseStore,
  STORED_ID_MAX,
  type KeyPrincipal,
  type RecalledItems,
  type ResponseLink,
} from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import { isStorable, Pressure, withMemory, type Closing } from '@gateway/platform';
import type { InferenceRequest } from '../request/inference-request.js';
import { RoutePlanner } from '../routes/route-planner.js';
import { AccountLimiter } from './account-limiter.js';

const REFERENCES_MAX = 256;

/** The responses and conversations that a request goes on from. A long chain holds as much as a large body. */
@Injectable()
export class Conversations {
  constructor(
    private readonly store: ResponseStore,
    private readonly routes: RoutePlanner,
    private readonly pressure: Pressure,
    private readonly limiter: AccountLimiter,
  ) {}

  /**
   * Returns the conversation before, counted until `closing`; null where the key has no such response or conversation.
   */
  earlier(
    link: ResponseLink,
    { keyId, accountId }: Pick<KeyPrincipal, 'keyId' | 'accountId'>,
    closing: Closing,
  ): Promise<RecalledItems | null> {
    const { store, pressure, limiter } = this;
    if (!isStorable('response_id' in link ? link.response_id : link.conversation_id))
      return Promise.resolve(null);
    return limiter.take(accountId, () =>
      withMemory(pressure.ofAccount(accountId), closing, (reserveMemory) =>
        store.recall(keyId, link, reserveMemory),
      ),
    );
  }

  /**
   * Returns the request with all that was said before it. Throws resource_not_found where the key has no such response,
   * service_unavailable where no memory is left for it.
   */
  async recall(
    asked: Asked,
    {
      endpoint: { state },
      origin: { memory },
      principal,
    }: Pick<InferenceRequest, 'endpoint' | 'origin' | 'principal'>,
    closing: Closing,
  ): Promise<Asked> {
    const found = state?.link(asked) ?? null;
    if (!state || found === null) return asked;
    const look = (): Promise<RecalledItems | null> => this.earlier(found.link, principal, closing);
    const recalled = await (memory ? memory.recall(found.link, look) : look());
    if (recalled === null) throw new ApiError('resource_not_found', { param: found.param });
    const { credential, items, model: lastModel } = recalled;
    const name = asked.model ?? principal.defaultModel;
    const provider = credential?.split('#', 1)[0];
    const index = this.routes.index();
    const alias = name === null ? null : index.alias(name, principal.orgId);
    // An alias stays with the target that answered before.
    const target = alias?.targets.find(({ model, weight }) => model === lastModel && weight > 0)?.model;
    const id = target ?? name;
    const isOwn =
      provider !== undefined &&
      id !== null &&
      // A name that is none is refused where the request is planned.
      index.find(id)?.routes.some((route) => route.provider === provider) === true;
    return {
      ...state.recalled(asked, items, isOwn),
      ...(isOwn ? { credential } : {}),
      ...(target === undefined ? {} : { lastModel: target }),
    };
  }

  /** Returns the request with the items that it names by their ids. Throws resource_not_found for one that the key does not have. */
  async resolve(
    asked: Asked,
    { endpoint: { state }, principal }: Pick<InferenceRequest, 'endpoint' | 'principal'>,
    closing: Closing,
  ): Promise<Asked> {
    const { store, pressure, limiter } = this;
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
    const items = await limiter.take(accountId, () =>
      withMemory(pressure.ofAccount(accountId), closing, (reserveMemory) =>
        store.items(keyId, possible, reserveMemory),
      ),
    );
    const missing = references.find(({ id }) => !items.has(id));
    if (missing) throw new ApiError('resource_not_found', { param: missing.param });
    return state.resolved(asked, items);
  }
}
