import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError, UpstreamError, type Clock, type KeyPrincipal, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import { isRenewed, TransportFailure, type ProviderAccess } from '@gateway/providers';
import { RetryBudget, runAttempts, type Plan, type PlannedRoute } from '@gateway/routing';
import { CircuitBreakers, proxiedAgent } from '@gateway/upstream';
import WebSocket from 'ws';
import { EdgeConfig } from '../../config/edge.config.js';
import { PlatformPools } from '../../config/platform-pools.js';
import { ProviderDirectory } from '../../config/provider-directory.js';
import { Credentials } from '../../upstream/credentials.js';
import { openedAs } from './realtime-endpoint.js';

/** One event of a provider at most; sixteen times the largest delta seen. */
const EVENT_BYTES_MAX = 16 * 1_048_576;
const ERROR_BYTES_MAX = 65_536;

/** A session with the provider that the plan's first working route leads to. */
export interface UpstreamLink {
  plannedRoute: PlannedRoute;
  ws: WebSocket;
  /** Events that came before somebody listened: the first comes with the handshake. */
  early: WebSocket.RawData[];
}

/** Sessions with providers, whose routes are tried like those of a request. */
@Injectable()
export class UpstreamLinks {
  constructor(
    private readonly credentials: Credentials,
    private readonly breakers: CircuitBreakers,
    private readonly budget: RetryBudget,
    private readonly config: EdgeConfig,
    private readonly providers: ProviderDirectory,
    private readonly pools: PlatformPools,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Opens a session by the first route that takes one. Throws ApiError where none does. */
  open(plan: Plan, principal: KeyPrincipal, signal: AbortSignal): Promise<UpstreamLink> {
    const { clock, random, budget, breakers } = this;
    return runAttempts({
      plan,
      policy: principal.routingPolicy ?? {},
      clock,
      random,
      budget,
      breakers,
      pools: this.pools.active,
      signal,
      account: principal.accountId,
      isCreate: false,
      attempt: (plannedRoute) => this.tried(plannedRoute, principal, signal),
    });
  }

  /** A session counts on its credential as one request. */
  private async tried(
    plannedRoute: PlannedRoute,
    principal: KeyPrincipal,
    signal: AbortSignal,
  ): Promise<UpstreamLink> {
    this.pools.begun(plannedRoute);
    try {
      return await this.connect(this.named(plannedRoute), principal, signal);
    } catch (error) {
      throw error instanceof UpstreamError ? this.pools.failed(plannedRoute, error) : error;
    }
  }

  /** Returns the route with the name that the deployment has at the resource of its credential. */
  private named(plannedRoute: PlannedRoute): PlannedRoute {
    const { route } = plannedRoute;
    const provider = this.pools.named(plannedRoute);
    if (provider === plannedRoute.provider) return plannedRoute;
    const { upstreamName = route.upstreamModel } = provider.quirks(route);
    return {
      ...plannedRoute,
      provider,
      translation: openedAs(route.dialect, upstreamName) ?? plannedRoute.translation,
    };
  }

  private async connect(
    plannedRoute: PlannedRoute,
    principal: KeyPrincipal,
    signal: AbortSignal,
  ): Promise<UpstreamLink> {
    const access = await this.credentials.of(plannedRoute, principal.accountId);
    if (!access) throw new ApiError('provider_not_available', { retryAfterSeconds: 5 });
    for (let isFirst = true; ; isFirst = false) {
      const shaken = await this.shake(plannedRoute, access, signal);
      if (shaken.link !== null) return shaken.link;
      if (!isFirst || !shaken.isRenewed) throw shaken.failure;
    }
  }

  /** One handshake. */
  private async shake(
    plannedRoute: PlannedRoute,
    access: ProviderAccess,
    signal: AbortSignal,
  ): Promise<Shaken> {
    const { provider, terms, translation } = plannedRoute;
    const prepared = await provider.prepare(translation.request, access);
    const { accept: _accept, ...credentials } = prepared.headers;
    const ws = this.opened(prepared.url, credentials);
    let renewed: Promise<boolean> | undefined;
    const fail = (failure: Failure): Error => {
      if (failure.kind === 'status') renewed = isRenewed(provider, access, prepared, failure);
      return provider.classify({ ...failure, byok: terms.byok.served });
    };
    try {
      const link = await handshake(plannedRoute, ws, signal, { fail, nowMs: () => this.clock.now() });
      return { link };
    } catch (failure) {
      return { link: null, failure, isRenewed: (await renewed) ?? false };
    }
  }

  private opened(url: string, headers: Record<string, string>): WebSocket {
    const {
      HTTPS_PROXY: proxy,
      NO_PROXY: except,
      UPSTREAM_CONNECT_TIMEOUT_MS: handshakeTimeout,
    } = this.config;
    const isProxied = proxy !== undefined && url.startsWith('https:');
    return new WebSocket(url.replace(/^http/, 'ws'), {
      headers,
      maxPayload: EVENT_BYTES_MAX,
      perMessageDeflate: false,
      followRedirects: false,
      handshakeTimeout,
      ...this.providers.tls.get(new URL(url).origin),
      ...(isProxied && { agent: proxiedAgent({ url: proxy, except }) }),
    });
  }
}

type Shaken = { link: UpstreamLink } | { link: null; failure: unknown; isRenewed: boolean };

type Failure =
  | { kind: 'transport'; failure: TransportFailure }
  | { kind: 'status'; status: number; headers: Record<string, string>; body: Uint8Array; nowMs: number };

function handshake(
  plannedRoute: PlannedRoute,
  ws: WebSocket,
  signal: AbortSignal,
  { fail, nowMs }: { fail: (failure: Failure) => Error; nowMs: () => number },
): Promise<UpstreamLink> {
  return new Promise((resolve, reject) => {
    const early: WebSocket.RawData[] = [];
    const keep = (data: WebSocket.RawData): void => void early.push(data);
    const leave = (): void => ws.terminate();
    const transport = (fault: TransportFailure['fault'], cause?: unknown): void =>
      reject(fail({ kind: 'transport', failure: new TransportFailure(fault, cause) }));
    signal.addEventListener('abort', leave, { once: true });
    ws.on('message', keep);
    ws.once('open', () => {
      signal.removeEventListener('abort', leave);
      // The session reads on from here.
      ws.pause();
      ws.off('message', keep);
      resolve({ plannedRoute, ws, early });
    });
    ws.once('unexpected-response', (_request, response) => {
      void errorBodyOf(response).then((body) => {
        const headers = Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        );
        reject(fail({ kind: 'status', status: response.statusCode ?? 502, headers, body, nowMs: nowMs() }));
        ws.terminate();
      });
    });
    ws.on('error', (cause) => {
      if (signal.aborted) transport('aborted', cause);
      else transport(/timed out/i.test(cause.message) ? 'timeout_connect' : 'connect', cause);
    });
  });
}

/** Reads the body of an error and never rejects: half of it says as much as it says. */
async function errorBodyOf(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size > ERROR_BYTES_MAX) break;
    }
  } catch {
    return Buffer.concat(chunks);
  }
  return Buffer.concat(chunks);
}
