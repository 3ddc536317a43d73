import type { KeyPrincipal, ObjectStore } from '@gateway/contracts';
import {
  badReply,
  BATCHES_DIALECTS,
  parseUpstreamObject,
  type BatchCalls,
  type BatchesDialect,
  type UpstreamBody,
} from '@gateway/dialects';
import type { Provider, ProviderAccess, UpstreamResponse } from '@gateway/providers';
import type { InferDeps } from '../inference/infer-deps.js';
import type { InferenceRequest } from '../request/inference-request.js';

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

export interface StepParts {
  callOf: (body: Record<string, unknown>, unit: number) => Promise<InferenceRequest>;
  /** The key as it is, also where it may call no more. */
  principal: () => Promise<KeyPrincipal>;
  objects: ObjectStore;
  deps: InferDeps;
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

/** Null where the credential is gone. */
export async function targetOf(
  credential: string,
  { principal, deps }: Pick<StepParts, 'principal' | 'deps'>,
): Promise<Target | null> {
  const [slug, keyId] = credential.split('#', 2);
  const provider = deps.directory.providers.get(slug) ?? deps.directory.byok.providers.get(slug);
  const dialect = BATCHES_DIALECTS.get(provider?.batches ?? '');
  if (provider === undefined || dialect === undefined) return null;
  if (keyId === undefined) {
    const access = deps.directory.access.get(slug);
    const isPlaced = dialect.needsPlace !== true || access?.batchPlace !== undefined;
    return access === undefined || !isPlaced ? null : { provider, dialect, access };
  }
  // A customer's key opens no bucket of the operator's.
  if (dialect.needsPlace === true) return null;
  const { accountId, providerKeys } = await principal();
  const grant = providerKeys?.find(({ id }) => id === keyId);
  if (grant === undefined) return null;
  const own = await deps.credentials.ownAccess(slug, grant, accountId);
  return own === undefined ? null : { provider, dialect, access: own };
}

/** Calls that are answered with a JSON object or nothing. */
export function callsOf(target: Target, bounds: Bounds, deps: InferDeps): BatchCalls {
  const { batchPlace: place } = target.access;
  return {
    ...(place === undefined ? {} : { place }),
    put: async (request) => {
      const response = await send(target, request, { ...bounds, maxBytes: REPLY_BYTES_MAX }, deps);
      await response.bytes();
    },
    send: async (request) => {
      const response = await send(target, request, { ...bounds, maxBytes: REPLY_BYTES_MAX }, deps);
      const answer = parseUpstreamObject(await response.bytes());
      if (answer === null) throw badReply('the answer is no JSON object.');
      return answer;
    },
  };
}

/** Throws where the status is beyond 2xx. */
export async function send(
  { provider, access }: Target,
  request: UpstreamBody,
  { idleMs, totalMs, maxBytes }: Bounds,
  deps: InferDeps,
): Promise<UpstreamResponse> {
  const prepared = await provider.prepare(request, access);
  const response = await deps.transport.send(prepared, {
    connectTimeoutMs: Math.min(totalMs, deps.config.UPSTREAM_CONNECT_TIMEOUT_MS),
    firstByteTimeoutMs: totalMs,
    idleTimeoutMs: idleMs,
    totalTimeoutMs: totalMs,
    maxBytes,
    signal: deps.drain.deadline,
  });
  if (response.status >= 200 && response.status < 300) return response;
  response.cancel();
  throw new BatchRefused(response.status);
}
