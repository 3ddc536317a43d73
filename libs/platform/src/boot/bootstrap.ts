import { writeJson } from '@gateway/json-body';
import 'reflect-metadata';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { Server, Socket, type AddressInfo } from 'node:net';
import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { DynamicModule, Type } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  BODY_LIMIT_BYTES,
  EXPOSED_HEADERS,
  newId,
  type ApiError,
  type Clock,
  type Random,
} from '@gateway/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BASELINE_VERSION } from '@gateway/api-version';
import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { AccessRule } from '../auth/access.js';
import { Authenticator } from '../auth/authenticator.js';
import { ClientAddress } from '../auth/client-address.js';
import { listRoutes, type ListedRoute } from '../auth/list-routes.js';
import { PrincipalGuard } from '../auth/principal-guard.js';
import { guardRawRoutes } from '../auth/raw-routes.js';
import { answerFailure, ErrorFilter, sendApiError } from '../errors/error-filter.js';
import { FailureLog } from '../errors/failure-log.js';
import { toApiError } from '../errors/to-api-error.js';
import { validationPipe } from '../errors/validation-pipe.js';
import type { Tls } from '../config/listener.config.js';
import type { TrustedProxies } from '../config/trusted-proxies.js';
import { Drain } from '../health/drain.js';
import { registerOperationalRoutes } from '../health/operational-routes.js';
import { ReadinessChecks } from '../health/readiness-checks.js';
import { LOGGER } from '../logging/logger.js';
import { NestLogger } from '../logging/nest-logger.js';
import { Metrics } from '../metrics/metrics.js';
import { serveMetrics, type MetricsListener } from '../metrics/metrics-server.js';
import { traceRequests, TRACER } from '../tracing/tracing.js';
import { SystemClock, SystemRandom } from '../time/system.js';
import { CLOCK } from '../time/tokens.js';
import { defaultPressureLimits, Pressure, type PressureLimits } from '../pressure/pressure.js';
import { registerBodyIntake } from '../pressure/body-intake.js';
import { registerBodyParsers } from './body-parsers.js';
import { answerClientError } from './client-error.js';
import { PlainRequests } from './plain-requests.js';
import { Entrance, readVersion, registerRequestHooks } from './request-hooks.js';
import { declaresTooMuch, dropBody, limitAt, sendTooLarge } from '../request/oversize.js';
import { addResponseHeaders, isCrossOriginPath, responseHeaders } from '../request/response-headers.js';

export interface BootConfig {
  host: string;
  /** 0 = any free port. */
  port: number;
  /** The port speaks HTTPS alone, and closes a connection that begins in plain HTTP; default: plain HTTP. */
  tls?: Tls | null;
  /** Time for which new requests are served after SIGTERM; default: 0, they are refused at once. */
  drainAcceptMs?: number;
  /** Time for which requests under way may go on after that. */
  drainGraceMs: number;
  /** Proxies before us whose X-Forwarded-For is believed; default: none, and the header says nothing. */
  trustedProxies?: TrustedProxies;
  /** Address of `/metrics`: a port of its own, null = nowhere; default: the port of everything else. */
  metrics?: MetricsListener | null;
  /** Limits above which work is refused; by default from the memory of the container. */
  pressure?: PressureLimits;
  /** Time that a client may take to send; default 10 s for the headers and 120 s for the whole request. */
  sendingMs?: { headers: number; request: number };
  /** A client that takes nothing of an answer for so long is closed; default 60 s. Of a hijacked answer its writer sees to it. */
  stallMs?: number;
}

export interface BootOptions {
  name: string;
  /** Has to import PlatformModule. */
  module: DynamicModule | Type<unknown>;
  config: BootConfig;
  /** Starts what else the application listens to, before its first request; closed between drain and shutdown. */
  connect?: (app: NestFastifyApplication) => Promise<Closable>;
}

interface Closable {
  close(): Promise<void>;
}

export interface RunningApp {
  /** Address on which it listens, for example `http://127.0.0.1:8080`. */
  url: string;
  app: NestFastifyApplication;
  /** Address of the metrics' own port; null where they have none. */
  metricsUrl: string | null;
  /** Every endpoint with who may call it. */
  routes: readonly ListedRoute[];
  /** Drains, then closes. Idempotent. */
  close(): Promise<void>;
}

const STALL_MS = 60_000;
/** Every method that a path of the API has. */
const CORS_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Time that a stream asked to end may take to write its last frame. */
const ENDING_MS = 5_000;

/** Builds a service, starts it and answers how to stop it. Throws where an endpoint declares no access. */
export async function bootstrap({ module, config, connect }: BootOptions): Promise<RunningApp> {
  const random = new SystemRandom();
  const plain = new PlainRequests(requestIds(random));
  const adapter = new FastifyAdapter(serverOptions(config, plain));
  const instance = adapter.getInstance<FastifyInstance>();
  const parts: {
    app?: NestFastifyApplication;
    entrance?: Entrance;
    authenticator?: Authenticator;
    pressure?: Pressure;
    failures?: FailureLog;
  } = {};
  const created = (): NestFastifyApplication => {
    if (parts.app === undefined) throw new Error('A request came before the application was made.');
    return parts.app;
  };
  registerRequestHooks(instance, () => parts.entrance, plain.failureOf);
  decorateClient(instance, () => created().get(ClientAddress));
  completeAnswers(instance, config.stallMs ?? STALL_MS);
  const authenticator = (): Authenticator => (parts.authenticator ??= created().get(Authenticator));
  const pressure = (): Pressure => (parts.pressure ??= created().get(Pressure));
  const rules = new Map<string, AccessRule>();
  const ruleOf = ({ method, routeOptions: { url } }: FastifyRequest): AccessRule | undefined =>
    rules.get(`${method} ${url}`);
  registerBodyParsers(instance, (request) => ruleOf(request)?.internal === true);
  // What was kept as it was written is answered so.
  instance.setReplySerializer((payload) => writeJson(payload));
  registerBodyIntake(instance, {
    ...{ pressure, random },
    authenticate: (request) => authenticator().authenticate(request, ruleOf(request) ?? {}),
    callersOf: (request) => {
      const rule = ruleOf(request);
      if (rule === undefined) return null;
      return rule.public === true ? 'everybody' : 'some';
    },
  });
  instance.addHook('onRoute', (route) => {
    route.bodyLimit ??= limitAt(route.url);
  });
  const registered = guardRawRoutes(instance, authenticator, pressure);
  // Before any plugin: the routes of one that registers some are completed with the handler of that moment.
  // One log for all of them, because its bound is the process's.
  const failures = (): FailureLog =>
    (parts.failures ??= new FailureLog(created().get<Logger>(LOGGER), created().get<Clock>(CLOCK)));
  instance.setErrorHandler((failure, request, reply) => answerFailure(failures(), failure, request, reply));
  registerPreflight(instance);

  const root = { module: class Root {}, imports: [DiscoveryModule, module] };
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter, {
    bodyParser: false,
    // Nest's own logger would write to standard output where the start fails; the error is thrown on anyway.
    logger: false,
    abortOnError: false,
  });
  parts.app = app;
  parts.entrance = entranceOf(app, random);
  const logger = app.get<Logger>(LOGGER);
  app.useLogger(new NestLogger(logger));
  app.useGlobalFilters(new ErrorFilter(failures()));
  app.useGlobalGuards(app.get(PrincipalGuard));
  app.useGlobalPipes(validationPipe());
  // Nest would set its own after the modules have begun.
  adapter.setErrorHandler = () => adapter.getInstance();
  watchRequests(app, instance, config);

  await app.init();
  const routes = listRoutes(app, registered);
  for (const { method, path, access } of routes) rules.set(`${method} ${path}`, access);
  // A span is Fastify's hook: where requests are traced, all of them are Fastify's.
  if (app.get<Tracer | null>(TRACER) === null) plain.open(registered, authenticator(), parts.entrance);
  const connected = await connect?.(app);
  await app.listen(config.port, config.host);
  const url = urlOf(instance, config);
  const scraped = config.metrics ? await serveMetrics(app.get(Metrics), config.metrics) : undefined;
  logger.info({ url }, 'listening');
  const close = closing(app, config, { connected, scraped });
  return { url, metricsUrl: scraped?.url ?? null, app, routes, close };
}

/**
 * Headers of every answer, and a bound on how long it may wait for its reader. Nothing else ends a connection whose answer
 * waits: Node's keep-alive time begins when the kernel has all of it. A hijacked reply passes this by.
 */
function completeAnswers(instance: FastifyInstance, stallMs: number): void {
  instance.addHook('onSend', (request, reply, payload, done) => {
    addResponseHeaders(request, reply);
    const { socket } = reply.raw;
    // Its own use of the socket ends it, also of one large write of which some is taken. inject() of a test has none.
    if (socket instanceof Socket) socket.setTimeout(stallMs);
    done(null, payload);
  });
}

function entranceOf(app: NestFastifyApplication, random: Random): Entrance {
  return new Entrance({
    drain: app.get(Drain),
    metrics: app.get(Metrics),
    pressure: app.get(Pressure),
    random,
  });
}

function decorateClient(instance: FastifyInstance, client: () => ClientAddress): void {
  instance.decorateRequest('clientIp', {
    getter(this: FastifyRequest) {
      return client().of(this);
    },
  });
  instance.decorateRequest('clientVoucher', {
    getter(this: FastifyRequest) {
      return client().vouch(this);
    },
  });
}

/** Shedding and traces of every request; the platform's own paths. */
function watchRequests(app: NestFastifyApplication, instance: FastifyInstance, config: BootConfig): void {
  const drain = app.get(Drain);
  const metrics = app.get(Metrics);
  const pressure = app.get(Pressure);
  pressure.watch(instance, config.pressure ?? defaultPressureLimits());
  metrics.loopDelays(pressure.delays);
  const tracer = app.get<Tracer | null>(TRACER);
  if (tracer !== null) traceRequests(instance, tracer);
  const readiness = app.get(ReadinessChecks);
  registerOperationalRoutes(instance, {
    drain,
    readiness,
    metrics: config.metrics === undefined ? metrics : null,
  });
}

function closing(
  app: NestFastifyApplication,
  { drainAcceptMs: acceptMs = 0, drainGraceMs: graceMs }: BootConfig,
  { connected, scraped }: { connected: Closable | undefined; scraped: Closable | undefined },
): () => Promise<void> {
  const close = async (): Promise<void> => {
    const times = { acceptMs, graceMs, endingMs: ENDING_MS };
    // Node's own close of an HTTP server would also cut off connections whose first request is on its way.
    const stopListening = (): void => void Server.prototype.close.call(app.getHttpServer());
    await app.get(Drain).run(app.get<Clock>(CLOCK), times, stopListening);
    await connected?.close();
    await app.close();
    await scraped?.close();
  };
  let closed: Promise<void> | undefined;
  return () => (closed ??= close());
}

function requestIds(random: Random): () => string {
  const clock = new SystemClock();
  return () => newId('req', clock, random);
}

/** Bounds of a connection and of a request. Fastify's own logger and 503 body stay out: ours are the only ones. */
function serverOptions(
  { sendingMs = { headers: 10_000, request: 120_000 }, trustedProxies, tls }: BootConfig,
  plain: PlainRequests,
): ConstructorParameters<typeof FastifyAdapter>[0] {
  const http = {
    maxHeaderSize: 16_384,
    headersTimeout: sendingMs.headers,
    requestTimeout: sendingMs.request,
    keepAliveTimeout: 75_000,
    connectionsCheckingInterval: 1_000,
    // Node answers what it refuses itself without an envelope and an id: both of these are left to `framingFault`.
    requireHostHeader: false,
  };
  return {
    serverFactory: (fastify) => {
      const listener = plain.listener(fastify as RequestListener);
      const server = tls
        ? createSecureServer({ ...http, ...tls, handshakeTimeout: sendingMs.headers }, listener)
        : createServer(http, listener);
      return server.on('checkExpectation', listener);
    },
    bodyLimit: BODY_LIMIT_BYTES,
    trustProxy:
      typeof trustedProxies === 'number'
        ? (_address, hop) => hop < trustedProxies
        : (trustedProxies ?? false),
    return503OnClosing: false,
    // It closes after the drain. What is open then has sent nothing yet, or half a request, and would keep it open for ever.
    forceCloseConnections: true,
    requestIdHeader: false,
    routerOptions: { maxParamLength: 512 },
    genReqId: (request) => plain.failureOf(request as IncomingMessage)?.id ?? plain.newId(),
    clientErrorHandler: (error, socket) => {
      answerClientError(error, socket, plain.newId);
    },
    // The router refuses a malformed address before any hook has run.
    frameworkErrors: (failure: Error, request: unknown, reply: unknown) => {
      refuseAddress(failure, request as FastifyRequest, reply as FastifyReply);
    },
  };
}

function refuseAddress(failure: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (declaresTooMuch(request)) return sendTooLarge(request, reply);
  // The router makes these requests without the decorations that others get.
  request.apiVersion = BASELINE_VERSION;
  const rejection = readVersion(request) ?? toApiError(failure);
  if (request.headers['transfer-encoding'] === undefined) return answerAddress(rejection, request, reply);
  void dropBody(request).then((wasTooLarge) => {
    if (wasTooLarge) sendTooLarge(request, reply);
    else answerAddress(rejection, request, reply);
  });
}

function answerAddress(rejection: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(responseHeaders(request));
  sendApiError(rejection, request, reply);
}

/**
 * Registers the handler of OPTIONS. In a scope of its own, so that its hook runs for preflights alone: every other
 * answer carries its CORS headers with those of `responseHeaders`.
 */
function registerPreflight(instance: FastifyInstance): void {
  void instance.register((scope, _options, done) => {
    void scope.register(cors, () => answerCors);
    done();
  });
}

/** Any origin may call the API, without credentials; nothing else answers another origin. */
function answerCors(
  request: FastifyRequest,
  answer: (error: Error | null, options: FastifyCorsOptions) => void,
): void {
  const isApi = isCrossOriginPath(request.url);
  answer(
    null,
    isApi
      ? {
          origin: '*',
          methods: CORS_METHODS,
          exposedHeaders: [...EXPOSED_HEADERS],
          maxAge: 86_400,
          strictPreflight: false,
        }
      : { origin: false },
  );
}

function urlOf(instance: FastifyInstance, { host, tls }: BootConfig): string {
  const { port } = instance.server.address() as AddressInfo;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http${tls ? 's' : ''}://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
