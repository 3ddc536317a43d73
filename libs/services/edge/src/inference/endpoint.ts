import type { ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { BODY_LIMIT_BYTES, type ApiError, type Clock, type KeyPrincipal } from '@gateway/contracts';
import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';
import {
  CLOCK,
  credentialOfRequest,
  responseHeaders,
  type AdmittedRequest,
  type Unanswered,
} from '@gateway/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { BatchPace } from '../admission/batch-pace.js';
import { Callers } from '../request/callers.js';
import { Clients, type Client } from '../request/client.js';
import { HTTP, type InferenceRequest } from '../request/inference-request.js';
import { NO_MODEL, Rejections } from '../units/rejections.js';
import { BackgroundInference } from './background.js';
import type { ComposedEndpoint } from './composed-endpoint.js';
import { InputCounts } from './count-input.js';
import { OnceInference } from './infer-once.js';
import { Inference } from './inference.js';

const EMPTY = Buffer.alloc(0);

/** The way that requests of a path take. */
type Way = (request: InferenceRequest, client: Client) => Promise<void>;

/** The ways of requests: plain chat runs at once and is waited for. */
@Injectable()
export class Ways {
  constructor(
    private readonly inference: Inference,
    private readonly once: OnceInference,
    private readonly background: BackgroundInference,
    private readonly counts: InputCounts,
    private readonly modules: ModuleRef,
  ) {}

  of({ background, answersOnce }: Endpoint): Way {
    if (background) return (request, client) => this.background.run(background, request, client);
    if (answersOnce) return (request, client) => this.once.run(request, client);
    return (request, client) => this.inference.run(request, client);
  }

  /** Returns the way of requests that only ask for the size of their input. */
  ofCounts(counts: NonNullable<Endpoint['counts']>): Way {
    return (request, client) => this.counts.run(counts, request, client);
  }

  ofComposed({ handler }: ComposedEndpoint): Way {
    const made = this.modules.get(handler);
    return (request, client) => made.run(request, client);
  }
}

interface PathRoute {
  endpoint: Endpoint;
  permission: string;
  admits: boolean;
  run: Way;
}

/** The inference endpoints, as handlers of Fastify's own: Nest's pipeline per route costs throughput. */
@Injectable()
export class Endpoints {
  constructor(
    private readonly ways: Ways,
    private readonly clients: Clients,
    private readonly callers: Callers,
    private readonly rejections: Rejections,
    private readonly pace: BatchPace,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async register(instance: FastifyInstance, composed: readonly ComposedEndpoint[]): Promise<void> {
    const { ways } = this;
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
        const route = { endpoint, permission, admits: true, run: ways.of(endpoint) };
        for (const path of endpoint.paths) this.registerPath(scope, path, route);
        if (counts)
          this.registerPath(scope, counts.path, { ...route, admits: false, run: ways.ofCounts(counts) });
      }
      for (const one of composed) {
        one.load();
        const { paths, permission, asks: endpoint, admits } = one;
        const route = { endpoint, permission, admits, run: ways.ofComposed(one) };
        for (const path of paths) this.registerPath(scope, path, route);
      }
      done();
    });
  }

  /** Registers one path under both bases. */
  private registerPath(scope: FastifyInstance, path: string, route: PathRoute): void {
    const { callers, clients, clock, pace, rejections } = this;
    const { endpoint, permission, admits, run } = route;
    const recorded = `/v1${path}`;
    const { requestIdHeader: header } = endpoint;
    const requestOf = (request: AdmittedRequest, principal: KeyPrincipal): InferenceRequest => ({
      requestId: request.id,
      unitIndex: 0,
      endpoint,
      path: recorded,
      principal,
      apiVersion: request.apiVersion,
      receivedAtMs: clock.now(),
      startedMs: clock.monotonic(),
      headers: request.headers,
      bytes: Buffer.isBuffer(request.body) ? request.body : EMPTY,
      origin: HTTP,
      reload: async () => callers.reload(credentialOfRequest(request.raw), permission),
    });
    const refused = (request: AdmittedRequest, principal: KeyPrincipal, rejection: ApiError): void =>
      rejections.add(requestOf(request, principal), NO_MODEL, rejection, null);
    const serve = async (request: AdmittedRequest, answer: ServerResponse): Promise<Unanswered | null> => {
      const { principal } = request;
      if (principal?.kind !== 'key') throw new TypeError('an inference endpoint without a key principal');
      const client = clients.of(answer, () => {
        const head = responseHeaders(request);
        if (header !== undefined) head[header] = request.id;
        return head;
      });
      try {
        const ours = requestOf(request, principal);
        // Lines of batches are paced while callers are there, who wait for their answers.
        pace.callerMs = ours.startedMs;
        await run(ours, client);
        return null;
      } catch (error) {
        // Sent in-band, or nobody is left to read it.
        return client.isOpen || client.isGone ? null : { error, headers: client.rateHeaders };
      }
    };
    const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const unanswered = await serve(request, reply.raw);
      if (unanswered !== null) {
        void reply.headers(unanswered.headers);
        throw unanswered.error;
      }
      // It was answered past Fastify's own reply, whose hooks and header copies have nothing to add to a good answer.
      if (reply.raw.headersSent) reply.hijack();
    };
    const config = { access: { key: { permission } }, admits, refused, serve };
    for (const url of [`/v1${path}`, `/openai/v1${path}`])
      scope.post(url, { config, ...hooksOf(endpoint) }, handle);
  }
}

/**
 * Returns the hooks that give every answer on such a path, rejections too, the id where SDKs of the endpoint's family
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
