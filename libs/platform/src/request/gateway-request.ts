import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError, Principal } from '@gateway/contracts';

/** One request of a route that admits, authenticated and read: Fastify's own, or one that passed Fastify by. */
export interface AdmittedRequest {
  readonly id: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: { headers: IncomingHttpHeaders; socket: Socket };
  readonly apiVersion: string;
  readonly principal: Principal | null;
  readonly body: unknown;
}

/** The failure of a request of which nothing was sent, with the headers of its answer. */
export interface Unanswered {
  error: unknown;
  headers: Readonly<Record<string, string>>;
}

/** Answers a request past Fastify's reply. Returns null where there is nothing left to send. */
export type Serve = (request: AdmittedRequest, answer: ServerResponse) => Promise<Unanswered | null>;

/** Members that the platform adds to every request. */
declare module 'fastify' {
  interface FastifyContextConfig {
    keepsBytes?: boolean;
    /** The handler, for plain requests that pass Fastify by. */
    serve?: Serve;
    /** Answered under pressure too: a file in memory costs less than its rejection is worth, and a page without one is broken. */
    isFile?: boolean;
  }
  interface FastifyRequest {
    /** Ours, `req_<uuidv7>`; the same as `request.id`. A caller's own id is never used for it. */
    readonly requestId: string;
    /** The version this answer is given in: header, key's pin or baseline. */
    apiVersion: string;
    /** True where the header named the version, so that a key's pin does not apply. */
    isVersionPinned: boolean;
    /** The caller's address, also behind the front door. */
    readonly clientIp: string;
    /** Voucher of the front door on the client, for the service that gets the request. */
    readonly clientVoucher: string;
    /** Caller, set by authentication; null before it and on public routes. */
    principal: Principal | null;
    /** The body as it was sent, where the route's config says `keepsBytes`: for signatures over the very bytes. */
    bodyBytes: Buffer | null;
    /** Reason why the body cannot be used. Thrown after authentication, because the body comes last. */
    bodyFault: ApiError | null;
    /** A rejection that waits until the size of a chunked body is known, because size comes first. */
    rejection: ApiError | null;
    /** Bytes of its body that count as buffered until the response is closed. */
    bufferedBytes: number;
    /** The body was over the limit: no metric, no log line. */
    isOversized: boolean;
  }
}
