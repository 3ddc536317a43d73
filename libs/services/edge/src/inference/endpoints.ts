import {
  ApiError,
  BODY_LIMIT_BYTES,
  HEADER,
  type KeyPrincipal,
  type PrincipalReader,
} from '@gateway/contracts';
import type { Front } from '@gateway/dialects';
import { parseCredential, permit, responseHeaders, type AccessRule } from '@gateway/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { NO_CALLER_HEADERS, type Call } from './call.js';
import { Client } from './client.js';
import { infer, type InferenceDeps } from './inference.js';
import type { Responder } from './serve.js';
import { SSE_HEADERS } from './stream-answer.js';

const ACCESS: AccessRule = { key: { permission: 'inference:write' } };
const EMPTY = Buffer.alloc(0);
/** Of a request that was refused before its body was read. */
const NO_MODEL = { id: null, requested: null };

export interface EndpointDeps extends InferenceDeps {
  principals: PrincipalReader;
  fronts: readonly { path: string; front: Front }[];
}

/** Registers the inference endpoints as handlers of Fastify's own: Nest's pipeline per route costs throughput. */
export async function registerInference(instance: FastifyInstance, deps: EndpointDeps): Promise<void> {
  await instance.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The bytes go on as they came; what they are is found out after authentication.
    scope.addContentTypeParser<Buffer>(
      '*',
      { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
      (_request, bytes, parsed) => parsed(null, bytes),
    );
    for (const { path, front } of deps.fronts) {
      front.load();
      for (const url of [`/v1${path}`, `/openai/v1${path}`]) {
        const endpoint = `/v1${path}`;
        const refused = (request: FastifyRequest, principal: KeyPrincipal, refusal: ApiError): void =>
          deps.rejections.add(callOf(request, principal, endpoint, front, deps), NO_MODEL, refusal, null);
        const config = { access: ACCESS, admits: true, refused };
        scope.post(url, { config, ...hooksOf(front) }, (request, reply) =>
          handle(request, reply, endpoint, front, deps),
        );
      }
    }
    done();
  });
}

/** Whatever is answered on a messages path carries the id where the Anthropic SDKs read it. */
function hooksOf({ dialect }: Front): { onSend?: onSendHookHandler } {
  if (dialect !== 'messages') return {};
  return {
    onSend: (request, reply, payload, done) => {
      void reply.header(HEADER.anthropicRequestId, request.id);
      done(null, payload);
    },
  };
}

async function handle(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: string,
  front: Front,
  deps: EndpointDeps,
): Promise<void> {
  const client = new Client(reply.raw, deps.clock, deps.deadlines, deps.config.CLIENT_STALL_TIMEOUT_MS);
  const call = callOf(request, keyPrincipal(request), endpoint, front, deps);
  const responder = new FastifyResponder(request, reply, client, front.dialect === 'messages');
  try {
    await infer(call, responder, deps);
  } catch (error) {
    // Told in-band, or nobody is left to tell.
    if (responder.isStreamOpen || client.isGone) return;
    void reply.headers(responder.rateHeaders);
    throw error;
  }
}

function callOf(
  request: FastifyRequest,
  principal: KeyPrincipal,
  endpoint: string,
  front: Front,
  deps: EndpointDeps,
): Call {
  const { headers } = request;
  return {
    requestId: request.id,
    endpoint,
    front,
    principal,
    apiVersion: request.apiVersion,
    receivedAtMs: deps.clock.now(),
    startedMs: deps.clock.monotonic(),
    headers,
    tags: principal.requestTags,
    callerHeaders: NO_CALLER_HEADERS,
    bytes: Buffer.isBuffer(request.body) ? request.body : EMPTY,
    reload: async () => {
      const newer = permit(await deps.principals.reload(parseCredential(headers)), ACCESS, deps.clock);
      if (newer.kind !== 'key') throw new ApiError('forbidden');
      return newer;
    },
  };
}

function keyPrincipal(request: FastifyRequest): KeyPrincipal {
  if (request.principal?.kind !== 'key') throw new TypeError('an inference endpoint without a key principal');
  return request.principal;
}

class FastifyResponder implements Responder {
  isStreamOpen = false;
  rateHeaders: Record<string, string> = {};

  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    readonly client: Client,
    private readonly isMessages: boolean,
  ) {}

  rate(headers: Record<string, string>): void {
    this.rateHeaders = headers;
  }

  json(body: Record<string, unknown>, headers: Record<string, string>): void {
    if (this.client.isGone) return;
    const text = JSON.stringify(body);
    this.open(200, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
    });
    this.client.end(text);
  }

  openStream(headers: Record<string, string>): void {
    if (this.isStreamOpen || this.client.isGone) return;
    this.isStreamOpen = true;
    this.open(200, { ...headers, ...SSE_HEADERS });
  }

  /** Past Fastify's own reply, whose hooks and header copies have nothing to add to a good answer. */
  private open(status: number, headers: Record<string, string>): void {
    this.reply.hijack();
    const anthropic = this.isMessages ? { [HEADER.anthropicRequestId]: this.request.id } : {};
    this.reply.raw.writeHead(status, {
      ...responseHeaders(this.request),
      ...this.rateHeaders,
      ...anthropic,
      ...headers,
    });
  }
}
