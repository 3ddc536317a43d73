import { ApiError, BODY_LIMIT_BYTES, type KeyPrincipal } from '@gateway/contracts';
import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';
import { credentialOfRequest, permit, responseHeaders, type AccessRule } from '@gateway/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { HTTP, type InferenceRequest } from '../request/inference-request.js';
import { NO_MODEL } from '../units/rejections.js';
import { Client } from '../request/client.js';
import type { ComposedEndpoint } from './composed-endpoint.js';
import { inferOrBegin } from './background.js';
import { countingOf } from './count-input.js';
import type { InferDeps } from './infer-deps.js';
import { inferOnce } from './infer-once.js';

const EMPTY = Buffer.alloc(0);

/** The way that requests of a path take. */
type Way = (call: InferenceRequest, client: Client, deps: InferDeps) => Promise<void>;

/** Registers the inference endpoints as handlers of Fastify's own: Nest's pipeline per route costs throughput. */
export async function registerEndpoints(
  instance: FastifyInstance,
  composed: readonly ComposedEndpoint[],
  deps: InferDeps,
): Promise<void> {
  await instance.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The bytes go on as they came; what they are is found out after authentication.
    scope.addContentTypeParser<Buffer>(
      '*',
      { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
      (_request, bytes, parsed) => parsed(null, bytes),
    );
    for (const endpoint of ENDPOINTS) {
      endpoint.load?.();
      if (endpoint.isInternal) continue;
      const { counts, permission } = endpoint;
      const route = { endpoint, permission, admits: true, run: wayOf(endpoint) };
      for (const path of endpoint.paths) registerPath(scope, path, route, deps);
      if (counts)
        registerPath(scope, counts.path, { ...route, admits: false, run: countingOf(counts) }, deps);
    }
    for (const { paths, permission, asks, admits, load, run } of composed) {
      load();
      for (const path of paths) registerPath(scope, path, { endpoint: asks, permission, admits, run }, deps);
    }
    done();
  });
}

interface PathRoute {
  endpoint: Endpoint;
  permission: string;
  admits: boolean;
  run: Way;
}

/** Returns the way of an endpoint's requests: plain chat runs at once and is waited for. */
function wayOf({ background, answersOnce }: Endpoint): Way {
  if (background) return inferOrBegin(background);
  if (answersOnce) return inferOnce;
  return (call, client, deps) => deps.inference.run(call, client);
}

/** One path under both bases. */
function registerPath(scope: FastifyInstance, path: string, route: PathRoute, deps: InferDeps): void {
  const { endpoint, permission, admits, run } = route;
  const access: AccessRule = { key: { permission } };
  const recorded = `/v1${path}`;
  const { requestIdHeader: header } = endpoint;
  const callOf = (request: FastifyRequest, principal: KeyPrincipal): InferenceRequest => ({
    requestId: request.id,
    unit: 0,
    endpoint,
    path: recorded,
    principal,
    apiVersion: request.apiVersion,
    receivedAtMs: deps.clock.now(),
    startedMs: deps.clock.monotonic(),
    headers: request.headers,
    bytes: Buffer.isBuffer(request.body) ? request.body : EMPTY,
    origin: HTTP,
    reload: async () => {
      const newer = permit(
        await deps.principals.reload(credentialOfRequest(request.raw)),
        access,
        deps.clock,
      );
      if (newer.kind !== 'key') throw new ApiError('forbidden');
      return newer;
    },
  });
  const refused = (request: FastifyRequest, principal: KeyPrincipal, refusal: ApiError): void =>
    deps.rejections.add(callOf(request, principal), NO_MODEL, refusal, null);
  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { principal } = request;
    if (principal?.kind !== 'key') throw new TypeError('an inference endpoint without a key principal');
    const headOf = (): Record<string, string> => {
      const head = responseHeaders(request);
      if (header !== undefined) head[header] = request.id;
      return head;
    };
    const stallMs = deps.config.CLIENT_STALL_TIMEOUT_MS;
    const client = new Client(reply.raw, headOf, deps.clock, deps.deadlines, stallMs);
    try {
      const call = callOf(request, principal);
      // Lines of batches are paced while callers are there, who wait for their answers.
      deps.pace.callerMs = call.startedMs;
      await run(call, client, deps);
    } catch (error) {
      // Sent in-band, or nobody is left to read it.
      if (client.isOpen || client.isGone) return;
      void reply.headers(client.rateHeaders);
      throw error;
    } finally {
      // It was answered past Fastify's own reply, whose hooks and header copies have nothing to add to a good answer.
      if (client.isOpen) reply.hijack();
    }
  };
  const config = { access, admits, refused };
  for (const url of [`/v1${path}`, `/openai/v1${path}`])
    scope.post(url, { config, ...hooksOf(endpoint) }, handle);
}

/**
 * Returns the hooks that give every answer on such a path, refusals too, the id where SDKs of the endpoint's family
 * read it.
 */
function hooksOf({ requestIdHeader: header }: Endpoint): { onSend?: onSendHookHandler } {
  if (header === undefined) return {};
  return {
    onSend: (request, reply, payload, done) => {
      void reply.header(header, request.id);
      done(null, payload);
    },
  };
}
