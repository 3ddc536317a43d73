import { Injectable } from '@nestjs/common';
import type { KeyPrincipal } from '@gateway/contracts';
import {
  badReply,
  BATCHES_DIALECTS,
  parseUpstreamObject,
  type BatchCalls,
  type BatchesDialect,
  type UpstreamBody,
} from '@gateway/dialects';
import { Drain } from '@gateway/platform';
import { isRenewed, type Provider, type ProviderAccess, type UpstreamResponse } from '@gateway/providers';
import { credentialOf, type PlannedRoute } from '@gateway/routing';
import { UndiciTransport } from '@gateway/upstream';
import { ProviderAdmission } from '../admission/provider-admission.js';
import { EdgeConfig } from '../config/edge.config.js';
import { ProviderDirectory } from '../config/provider-directory.js';
import { Credentials } from '../upstream/credentials.js';
import { BatchRoom } from './batch-room.js';

const REPLY_BYTES_MAX = 16 * 1_048_576;
/** A refusal that may pass. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);

export interface Bounds {
  idleMs: number;
  totalMs: number;
  maxBytes: number;
}

/** Returns the bounds of a call that is answered at once. */
export function callBounds(ms: number): Bounds {
  return { idleMs: ms, totalMs: ms, maxBytes: REPLY_BYTES_MAX };
}

/** A provider and a credential that takes batches. */
export interface Target {
  provider: Provider;
  dialect: BatchesDialect;
  access: ProviderAccess;
}

/** The provider answered with a status of failure. */
class BatchRefused extends Error {
  constructor(readonly status: number) {
    super(`the provider answered ${status} to a step of a batch`);
    this.name = 'BatchRefused';
  }
}

/** Refused for good: what asks again gets the same. A look at what a provider does not know ends it, too. */
export function isFinal(failure: unknown): boolean {
  return failure instanceof BatchRefused && failure.status < 500 && !PASSING.has(failure.status);
}

/** Providers that take batches, and the calls of steps of batches to them. */
@Injectable()
export class BatchTargets {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly credentials: Credentials,
    private readonly transport: UndiciTransport,
    private readonly config: EdgeConfig,
    private readonly drain: Drain,
    private readonly admission: ProviderAdmission,
  ) {}

  /** Returns the credential on which a whole batch runs; null where none of the provider's is ready. */
  credentialFor(plannedRoute: PlannedRoute): string | null {
    const { route, pooled } = plannedRoute;
    if (pooled?.id !== null) return credentialOf(plannedRoute);
    const id = this.admission.pools.draw(plannedRoute, new Set());
    return id === null ? null : credentialOf({ route, pooled: { ...pooled, id } });
  }

  roomOn(credential: string, begun: { unitId: string; requestedAtMs: number }): BatchRoom {
    return new BatchRoom(this.admission, credential, begun);
  }

  /** Null where the credential was removed, or takes no batches. `principal`: the key as it is, also where it may call no more. */
  async of(credential: string, principal: () => Promise<KeyPrincipal>): Promise<Target | null> {
    const { access, byok, providers } = this.directory;
    const [platforms, keyId] = credential.split('#', 2);
    const [slug, pooledId] = platforms.split('@', 2);
    const provider = providers.get(slug) ?? byok.providers.get(slug);
    const dialect = BATCHES_DIALECTS.get(provider?.batches ?? '');
    if (provider === undefined || dialect === undefined) return null;
    if (keyId === undefined) {
      const ours = pooledId === undefined ? access.get(slug) : await this.credentials.pooled(slug, pooledId);
      const isPlaced = dialect.needsPlace !== true || ours?.batchPlace !== undefined;
      return ours === undefined || !isPlaced ? null : { provider, dialect, access: ours };
    }
    // A customer's key opens no bucket of the operator's.
    if (dialect.needsPlace === true) return null;
    const { accountId, providerKeys } = await principal();
    const grant = providerKeys?.find(({ id }) => id === keyId);
    if (grant === undefined) return null;
    const own = await this.credentials.ownAccess(slug, grant, accountId);
    return own === undefined ? null : { provider, dialect, access: own };
  }

  /** Calls that are answered with a JSON object or nothing. */
  callsTo(target: Target, bounds: Bounds): BatchCalls {
    const { batchPlace: place } = target.access;
    const reply = { ...bounds, maxBytes: REPLY_BYTES_MAX };
    return {
      ...(place === undefined ? {} : { place }),
      put: async (request) => {
        const response = await this.send(target, request, reply);
        await response.bytes();
      },
      send: async (request) => {
        const response = await this.send(target, request, reply);
        const answer = parseUpstreamObject(await response.bytes());
        if (answer === null) throw badReply('the answer is no JSON object.');
        return answer;
      },
    };
  }

  /** Throws where the status is beyond 2xx. */
  async send(
    { provider, access }: Target,
    request: UpstreamBody,
    { idleMs, totalMs, maxBytes }: Bounds,
  ): Promise<UpstreamResponse> {
    const options = {
      connectTimeoutMs: Math.min(totalMs, this.config.UPSTREAM_CONNECT_TIMEOUT_MS),
      firstByteTimeoutMs: totalMs,
      idleTimeoutMs: idleMs,
      totalTimeoutMs: totalMs,
      maxBytes,
      signal: this.drain.deadline,
    };
    let prepared = await provider.prepare(request, access);
    let response = await this.transport.send(prepared, options);
    if (await isRenewed(provider, access, prepared, response)) {
      response.cancel();
      prepared = await provider.prepare(request, access);
      response = await this.transport.send(prepared, options);
    }
    if (response.status >= 200 && response.status < 300) return response;
    response.cancel();
    throw new BatchRefused(response.status);
  }
}
