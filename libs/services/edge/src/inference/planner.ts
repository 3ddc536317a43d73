import { Injectable } from '@nestjs/common';
import { ApiError, type GivenAnswer, type KeyPrincipal } from '@gateway/contracts';
import {
  StoredContentNeeded,
  wholeBody,
  type Asked,
  type StoredRequest,
  type Requirement,
} from '@gateway/endpoints';
import type { Closing } from '@gateway/platform';
import { isOn, type Plan, type PlanOptions } from '@gateway/routing';
import type { Plannable, PlannedUnit } from '../admission/admission.js';
import { cacheName } from '../cache/cache-name.js';
import { ResponseCache, type CachedAnswer } from '../cache/response-cache.js';
import { requestTags, type InferenceRequest } from '../request/inference-request.js';
import { drawPoint } from '../routes/draw-point.js';
import { RoutePlanner } from '../routes/route-planner.js';
import { Conversations } from '../state/conversations.js';
import { NamedFiles } from '../state/named-files.js';
import { StoredBodies } from './stored-bodies.js';

/** A request and what was read of it: it can be planned for any version of its key. */
export class ReadRequest implements Plannable {
  constructor(
    private readonly planner: Planner,
    readonly request: InferenceRequest,
    readonly asked: Asked,
    readonly facts: ReadFacts,
    /** Reads it again for a newer principal; null where that changes nothing of it. */
    private readonly reread: ((principal: KeyPrincipal) => Promise<Asked>) | null,
  ) {}

  /** Name of the model as the caller wrote it, or the key has it. */
  get requested(): string | null {
    return this.asked.model ?? this.request.principal.defaultModel;
  }

  reload(): Promise<KeyPrincipal> {
    return this.request.reload();
  }

  planFor(principal: KeyPrincipal): PlannedUnit | Promise<PlannedUnit> {
    const { planner, reread } = this;
    if (reread === null || principal === this.request.principal)
      return planner.planned(this, this.asked, principal);
    return reread(principal).then((asked) => planner.planned(this, asked, principal));
  }
}

/** Facts of a request that no plan changes. */
interface ReadFacts {
  tags: Record<string, string>;
  storedRequest: StoredRequest | null;
  /** Content of the account that the body names; null for none. */
  stored: StoredContentNeeded | null;
  /** True for a request that is sent later, and planned again then. */
  isLater?: true;
}

const NEVER_OPEN: PlanOptions['breakers'] = { isOpen: () => false };
const BATCHES: Requirement = { flag: 'supports_batching', param: 'model', what: 'batches' };

/** Reads the bodies of requests and plans their routes. */
@Injectable()
export class Planner {
  constructor(
    private readonly routes: RoutePlanner,
    private readonly bodies: StoredBodies,
    private readonly conversations: Conversations,
    private readonly files: NamedFiles,
    private readonly cache: ResponseCache,
  ) {}

  /** Reads the body, with all that it names; at once where it names nothing. Throws ApiError. */
  read(request: InferenceRequest, closing: Closing): ReadRequest | Promise<ReadRequest> {
    const { endpoint, headers, principal } = request;
    const tags = requestTags(headers, principal);
    const read = endpoint.read(request);
    if (read instanceof StoredContentNeeded) return this.readStored(request, closing, { read, tags });
    if (endpoint.state || read.files) return this.readState(request, closing, { read, tags });
    return new ReadRequest(this, request, read, { tags, storedRequest: null, stored: null }, null);
  }

  /** Reads a request that is answered later: what it needs stays, whatever conversation it goes on from. */
  async readLater(request: InferenceRequest, sent: Asked, closing: Closing): Promise<LaterRequest> {
    const tags = requestTags(request.headers, request.principal);
    const resolved = await this.conversations.resolve(sent, request, closing);
    const own = { ...resolved, requires: sent.requires };
    const recalled = async (principal: KeyPrincipal): Promise<Asked> => {
      const asked = await this.continued(own, { ...request, principal }, closing);
      return { ...asked, requires: [...asked.requires, ...sent.requires] };
    };
    const facts: ReadFacts = { tags, storedRequest: null, stored: null, isLater: true };
    return { own, read: new ReadRequest(this, request, await recalled(request.principal), facts, recalled) };
  }

  /** Returns the plan for a version of the key. Throws ApiError where it may not be served. */
  planned({ request, facts }: ReadRequest, read: Asked, principal: KeyPrincipal): PlannedUnit {
    const { origin, endpoint, receivedAtMs: nowMs, requestId, unitIndex } = request;
    const { stored, storedRequest, tags, isLater = false } = facts;
    const { answer } = origin;
    const wanted = origin.kind === 'http' ? read : askedBy(read, origin);
    const options = { endpoint, principal, nowMs, point: () => drawPoint(requestId, unitIndex) };
    const plan =
      answer === undefined
        ? this.routes.plan(wanted, options)
        : answeredBy(answer, this.routes.plan(wanted, options, NEVER_OPEN));
    const asked =
      plan.unread.length === 0 ? wanted : { ...wanted, unread: [...(wanted.unread ?? []), ...plan.unread] };
    // What cannot be said in the first route's dialect is refused before anything is counted.
    if (!isLater) plan.routes[0].translation.prepare?.();
    // What a template or a stored response adds may be another one the next time.
    const isOwn =
      !isLater && stored === null && !answer && !storedRequest?.isStored && origin.memory === undefined;
    const ttlMs = isOwn ? principal.responseCache?.ttlMs : undefined;
    const hit = ttlMs === undefined ? UNCACHED : this.cachedFor(request, plan, principal, ttlMs);
    const hasMemory = stored !== null && stored.memory !== null;
    return {
      principal,
      asked,
      plan,
      tags,
      storedRequest,
      hasMemory,
      cacheName: hit.cacheName,
      cached: hit.cached,
    };
  }

  /** Composes the body with the template and the memories that it names. */
  private async readStored(
    request: InferenceRequest,
    closing: Closing,
    { read: stored, tags }: { read: StoredContentNeeded; tags: ReadFacts['tags'] },
  ): Promise<ReadRequest> {
    const { endpoint, headers } = request;
    const composed = async (principal: KeyPrincipal): Promise<Asked> => {
      const bytes = await this.bodies.bodyOf(stored, principal);
      return this.conversations.resolve(
        wholeBody(endpoint.read({ bytes, headers })),
        { ...request, principal },
        closing,
      );
    };
    const resolved = await composed(request.principal);
    const storedRequest = endpoint.state?.storedRequest(resolved) ?? null;
    const asked = await this.continued(resolved, request, closing);
    return new ReadRequest(this, request, asked, { tags, storedRequest, stored }, async (principal) =>
      this.continued(await composed(principal), { ...request, principal }, closing),
    );
  }

  private async readState(
    request: InferenceRequest,
    closing: Closing,
    { read, tags }: { read: Asked; tags: ReadFacts['tags'] },
  ): Promise<ReadRequest> {
    const { state } = request.endpoint;
    const resolved = state ? await this.conversations.resolve(read, request, closing) : read;
    const storedRequest = state?.storedRequest(resolved) ?? null;
    const asked = await this.continued(resolved, request, closing);
    return new ReadRequest(this, request, asked, { tags, storedRequest, stored: null }, null);
  }

  /** Returns the request with the conversation before it, and the bytes of the files that either names. */
  private async continued(asked: Asked, request: InferenceRequest, closing: Closing): Promise<Asked> {
    const recalled = await this.conversations.recall(asked, request, closing);
    return this.files.attach(recalled, request, closing);
  }

  /** Returns the cached answer of a key with a response cache. */
  private cachedFor(
    request: InferenceRequest,
    { model, requestedModel }: Plan,
    principal: KeyPrincipal,
    ttlMs: number,
  ): CacheHit {
    const wanted = requestedModel === 'auto' ? requestedModel : model.record.id;
    const name = cacheName(request, principal, wanted);
    if (name === null) return UNCACHED;
    return { cacheName: name, cached: this.cache.find(name, ttlMs, request.receivedAtMs) };
  }
}

/** A request that is answered later: as it is stored, and as it is planned. */
export interface LaterRequest {
  own: Asked;
  read: ReadRequest;
}

interface CacheHit {
  cacheName: string | null;
  cached: CachedAnswer | null;
}

const UNCACHED: CacheHit = { cacheName: null, cached: null };

/** Returns the request as its origin lets it be served: at the batch tier, or by who has answered it. */
function askedBy(asked: Asked, { isBatch, answer }: InferenceRequest['origin']): Asked {
  const tiered = isBatch ? atBatchTier(asked) : asked;
  return answer === undefined ? tiered : { ...tiered, credential: answer.credential };
}

/** Returns the request at the batch tier, whatever its body says of a tier. */
export function atBatchTier(asked: Asked): Asked {
  if (asked.tier === 'batch') return asked;
  return { ...asked, tier: 'batch', requires: [...asked.requires, BATCHES] };
}

/** The route that has answered. Throws ApiError where it is in the plan no more. */
function answeredBy({ credential }: GivenAnswer, plan: Plan): Plan {
  const route = plan.routes.find((one) => isOn(one, credential));
  if (route === undefined) throw new ApiError('provider_not_available', { retryAfterSeconds: 5 });
  return { ...plan, routes: [route] };
}
