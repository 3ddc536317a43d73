import type { IncomingHttpHeaders } from 'node:http';
import replyFrom from '@fastify/reply-from';
import { HEADER, type Random } from '@gateway/contracts';
import {
  activeTraceparent,
  CONNECTION_AGE_MS,
  noEndpoint,
  serviceUnavailable,
  type ServiceName,
} from '@gateway/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Base URL per owning service; a service without one runs in this process and answers by itself. */
export type FrontDoorServices = Readonly<Partial<Record<Owner, string>>>;

type Owner = Exclude<ServiceName, 'edge'>;

/** Public paths by the service that owns them. /internal is in no row, so it is never forwarded. */
const OWNERS: Record<Owner, readonly string[]> = {
  keys: [
    '/auth',
    '/.well-known',
    '/v1/keys',
    '/v1/key',
    '/v1/orgs',
    '/v1/teams',
    '/v1/admin-keys',
    '/v1/admin/super-admins',
    '/v1/admin/discounts',
    '/v1/admin/organization-defaults',
    '/v1/admin/budgets',
    '/v1/admin/providers/:slug/credentials',
    '/v1/provider-keys',
    '/v1/budgets',
    '/v1/routing-policy-templates',
    '/v1/templates',
    '/v1/memories',
  ],
  catalogue: [
    '/v1/models',
    '/openai/v1/models',
    '/v1/errors',
    '/v1/api-versions',
    '/v1/public',
    '/v1/providers',
    '/v1/aliases',
    '/v1/admin/aliases',
    '/v1/admin/models',
    '/v1/admin/providers',
    '/v1/admin/catalogue',
  ],
  usage: [
    '/v1/end-users',
    '/v1/usage',
    '/v1/balance',
    '/v1/billing',
    '/v1/admin/credits',
    '/v1/admin/coupons',
    '/v1/admin/books',
    '/v1/admin/usage',
    '/v1/admin/aliases/:id/shadow',
  ],
  notifications: ['/alerts'],
  workers: [
    '/objects',
    '/v1/batches',
    '/v1/files',
    '/openai/v1/batches',
    '/openai/v1/files',
    '/v1/video',
    '/openai/v1/video',
    '/v1/responses/:id',
    '/openai/v1/responses/:id',
    '/v1/conversations',
    '/openai/v1/conversations',
  ],
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
const TIMEOUT_MS = 60_000;
const CONNECTIONS = 128;
const RETRY_DELAY_MS = 20;
/** Failures of a connection that ended before its answer, as with a replica that has just left. */
const CONNECTION_FAULTS: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'UND_ERR_SOCKET',
  'EPIPE',
]);

/** Headers of one hop, and what only the fleet may say. `Expect` was answered here, before the body was read. */
const NOT_FORWARDED = [
  'x-fleet-token',
  'expect',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'proxy-authorization',
];

/** Returns the headers for both ends: a connection to one side says nothing about the other. */
function ofBothEnds(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !NOT_FORWARDED.includes(name.toLowerCase()));
  return Object.fromEntries(kept);
}

/**
 * Passes every path that another service owns on to it, streaming both ways and adding no logic: the owner checks the
 * caller itself. A service that cannot be reached is 503, never 404.
 */
export async function registerFrontDoor(
  instance: FastifyInstance,
  services: FrontDoorServices,
  random: Random,
): Promise<void> {
  for (const [owner, base] of Object.entries(services) as [Owner, string | undefined][]) {
    if (base === undefined) continue;
    await instance.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      await scope.register(replyFrom, {
        base,
        undici: {
          connections: CONNECTIONS,
          clientTtl: CONNECTION_AGE_MS,
          bodyTimeout: TIMEOUT_MS,
          headersTimeout: TIMEOUT_MS,
        },
        disableRequestLogging: true,
      });
      for (const path of OWNERS[owner]) {
        for (const url of [path, `${path}/*`]) {
          scope.route({
            method: [...METHODS],
            url,
            config: { access: { public: true } },
            handler: (request, reply) => forward(request, reply, { owner, random }),
          });
        }
      }
    });
  }
}

/** No name of ours has two dots in a row: who sends them wants out of the owner's paths. */
const CLIMBS = /(?:\.|%2e){2}/i;

function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  { owner, random }: { owner: Owner; random: Random },
): FastifyReply {
  const { url = '/' } = request.raw;
  const [path] = url.split('?', 1);
  if (CLIMBS.test(path)) throw noEndpoint();
  // Its own span stands below this one's; the caller's header would pass it by, and without one it began another trace.
  const traceparent = activeTraceparent();
  // Without the query, which goes on as it came: the proxy would decode it, and fail where it cannot be.
  return reply.from(path, {
    rewriteRequestHeaders: (_request, headers) => ({
      ...ofBothEnds(headers),
      // Who called, for limits per address; what a caller says of itself is written over.
      [HEADER.clientAddress.toLowerCase()]: request.clientVoucher,
      'x-forwarded-for': request.clientIp,
      // By what name: the owner has another, and the refresh cookie counts from the caller's own origin only.
      'x-forwarded-host': request.headers.host,
      ...(traceparent === undefined ? {} : { traceparent }),
    }),
    rewriteHeaders: (headers) => ofBothEnds(headers),
    retryDelay: retryDelayMs,
    // The handler of the root logs the cause and answers.
    onError: (answer, { error }) => {
      void answer.send(serviceUnavailable(owner, random, error));
    },
  });
}

/**
 * A read that a leaving replica did not answer is sent once more, because another one may take it. The library's own rule
 * would send every read that got a 503 ten times more, to a service that has too much to do already.
 */
function retryDelayMs(tried: {
  req: { method?: string };
  res?: unknown;
  err?: unknown;
  attempt: number;
}): number | null {
  const { method } = tried.req;
  if (tried.attempt > 0 || (method !== 'GET' && method !== 'HEAD')) return null;
  const { code } = { ...(tried.err as { code?: unknown } | null | undefined) };
  return CONNECTION_FAULTS.has(code) || isOfLeaving(tried.res) ? RETRY_DELAY_MS : null;
}

/** True for the 503 with which a draining service closes its connection. */
function isOfLeaving(answer: unknown): boolean {
  const { statusCode, headers } = { ...(answer as { statusCode?: unknown; headers?: IncomingHttpHeaders }) };
  return statusCode === 503 && headers?.connection === 'close';
}
