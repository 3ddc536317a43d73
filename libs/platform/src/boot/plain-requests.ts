import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import { BODY_LIMIT_BYTES, type ApiError, type KeyPrincipal } from '@gateway/contracts';
import type { AccessRule } from '../auth/access.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { RegisteredRoute } from '../auth/raw-routes.js';
import type { AdmittedRequest, Serve, Unanswered } from '../request/gateway-request.js';
import { SMALL_BYTES } from '../pressure/body-intake.js';
import { pinnedVersion } from '../request/response-headers.js';
import { plainHead } from './kept-head.js';
import type { Entrance, FailedRequest } from './request-hooks.js';

const EMPTY = Buffer.alloc(0);

/** A route whose plain requests pass Fastify by. */
interface PlainRoute {
  url: string;
  access: AccessRule;
  serve: Serve;
}

/** One request that passes Fastify by. Its body is null until it was read. */
class PlainRequest implements AdmittedRequest {
  readonly method = 'POST';
  bufferedBytes = 0;
  readonly isOversized = false;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  body: Buffer | null = null;

  constructor(
    readonly raw: IncomingMessage,
    readonly routeOptions: PlainRoute,
    readonly principal: KeyPrincipal,
    readonly apiVersion: string,
    readonly id: string,
    readonly entrance: Entrance,
  ) {
    this.url = routeOptions.url;
    this.headers = raw.headers;
  }
}

/**
 * Requests that pass Fastify's router, hooks, body parser and reply by. Such a POST has a head that leaves no doubt, a
 * length, and a key that is in memory and may call. Every other request is Fastify's, untouched, and so is the answer
 * to a failure: each of its rules is in one place.
 */
export class PlainRequests {
  private readonly routes = new Map<string, PlainRoute>();
  private readonly failures = new WeakMap<IncomingMessage, FailedRequest>();
  private parts: { authenticator: Authenticator; entrance: Entrance } | null = null;

  constructor(readonly newId: () => string) {}

  /** Begins to take requests of those routes that have a `serve`. */
  open(routes: readonly RegisteredRoute[], authenticator: Authenticator, entrance: Entrance): void {
    this.parts = { authenticator, entrance };
    for (const { method, path: url, access, serve } of routes)
      if (method === 'POST' && access !== null && serve) this.routes.set(url, { url, access, serve });
  }

  /** Stands before Fastify's own listener on its server. */
  listener(fastify: RequestListener): RequestListener {
    return (raw, answer) => {
      const request = this.taken(raw);
      if (request === null) return fastify(raw, answer);
      const { entrance } = request;
      entrance.count(request, answer);
      const failed = (failure: Unanswered): void => {
        const { id, apiVersion } = request;
        this.failures.set(raw, { ...failure, id, apiVersion });
        fastify(raw, answer);
      };
      const isLarge = Number(raw.headers['content-length']) > SMALL_BYTES;
      let rejection: ApiError | null = null;
      // Nearly always one: no list is made for it.
      let first: Buffer | null = null;
      let others: Buffer[] | null = null;
      raw
        .on('data', (chunk: Buffer) => {
          if (isLarge) rejection ??= entrance.arrived(request, chunk.length);
          // Where memory has no room for all, the rest is read and dropped.
          if (rejection !== null) first = others = null;
          else if (first === null) first = chunk;
          else (others ??= [first]).push(chunk);
        })
        .on('end', () => {
          request.body = others === null ? (first ?? EMPTY) : Buffer.concat(others);
          first = others = null;
          if (rejection !== null) return failed({ error: rejection, headers: {} });
          request.routeOptions.serve(request, answer).then(
            (failure) => failure && failed(failure),
            (error: unknown) => failed({ error, headers: {} }),
          );
        })
        .on('error', (error) => {
          if (request.body === null) failed({ error, headers: {} });
        });
    };
  }

  /** The failure that Fastify is to answer; undefined for a request that comes to it first. */
  readonly failureOf = (request: IncomingMessage): FailedRequest | undefined => this.failures.get(request);

  private taken(raw: IncomingMessage): PlainRequest | null {
    const route = raw.method === 'POST' ? this.routes.get(raw.url ?? '') : undefined;
    if (route === undefined || this.parts === null || raw.httpVersion !== '1.1') return null;
    const { authenticator, entrance } = this.parts;
    const head = plainHead(raw);
    const bytes = Number(raw.headers['content-length']);
    // An absent length is neither.
    const isBounded = bytes > 0 && bytes <= BODY_LIMIT_BYTES;
    if (head === null || !isBounded || !entrance.lets(bytes)) return null;
    const principal = authenticator.rememberedKey(head.credential, route.access);
    if (principal === null) return null;
    const version = head.version ?? pinnedVersion(principal);
    return new PlainRequest(raw, route, principal, version, this.newId(), entrance);
  }
}
