import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnModuleInit,
} from '@nestjs/common';
import { LimitStore, PrincipalReader, type Clock, type Random } from '@gateway/contracts';
import {
  CLOCK,
  InternalHttp,
  LOGGER,
  Metrics,
  RANDOM,
  ReadinessChecks,
  repeat,
  type Repeated,
} from '@gateway/platform';
import type { Logger } from 'pino';
import { connectRedis, type RedisAddress, type RedisConnection } from './redis/connect-redis.js';
import { PrincipalWarmer } from './principal-warmer.js';
import { LiveKeys } from './redis/live-keys.js';
import { HttpPrincipalReader } from './remote/http-principal-reader.js';
import { principalCacheCounter } from './remote/reader-metrics.js';

const FLUSH_EVERY_MS = 10_000;

/** A connection of its own: the one of the limits sends scripts alone. */
const LIVE_KEYS_REDIS = Symbol('LiveKeysRedis');

/** Warms the principals of an edge that starts, and writes which keys it has looked up itself. */
@Injectable()
class LivePrincipals implements OnModuleInit, BeforeApplicationShutdown {
  private loop: Repeated | null = null;

  constructor(
    private readonly live: LiveKeys,
    @Inject(LIVE_KEYS_REDIS) private readonly connection: RedisConnection,
    @Inject(PrincipalReader) private readonly reader: HttpPrincipalReader,
    private readonly readiness: ReadinessChecks,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    // Not awaited: the process listens, and says why it is not ready.
    void new PrincipalWarmer(this.live, this.reader, this.clock, this.logger).warm(this.readiness);
    this.loop = repeat(
      this.clock,
      FLUSH_EVERY_MS,
      () => this.live.flush(),
      (failure) => this.logger.warn({ err: failure }, 'keys in use could not be noted'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
    // The edge that follows reads them.
    await this.live.flush().catch(() => undefined);
    this.connection.close();
  }
}

/** Returns the principals of the keys service for an edge, which has those of the last hour when it is ready. */
export function livePrincipals(address: RedisAddress): DynamicModule {
  return {
    module: class LivePrincipalsModule {},
    global: true,
    providers: [
      {
        provide: LIVE_KEYS_REDIS,
        inject: [CLOCK],
        useFactory: (clock: Clock) =>
          connectRedis({ ...address, clientName: 'live-keys', clock, onNotice: () => undefined }),
      },
      {
        provide: LiveKeys,
        inject: [LIVE_KEYS_REDIS, CLOCK],
        useFactory: ({ client }: RedisConnection, clock: Clock) => new LiveKeys(client, clock),
      },
      {
        provide: PrincipalReader,
        inject: [InternalHttp, LimitStore, CLOCK, RANDOM, Metrics, LiveKeys],
        useFactory: (
          http: InternalHttp,
          limits: LimitStore,
          clock: Clock,
          random: Random,
          metrics: Metrics,
          live: LiveKeys,
        ) =>
          new HttpPrincipalReader({
            ...{ http, limits, clock, random, onOutcome: principalCacheCounter(metrics) },
            onKey: (digest) => live.note(digest),
          }),
      },
      LivePrincipals,
    ],
    exports: [PrincipalReader],
  };
}
