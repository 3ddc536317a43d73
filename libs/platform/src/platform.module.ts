import {
  Inject,
  Injectable,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { EventLog, LimitStore, PrincipalReader, type Clock, type Random } from '@gateway/contracts';
import { trace, type Tracer } from '@opentelemetry/api';
import type { DestinationStream, Logger } from 'pino';
import { Authenticator } from './auth/authenticator.js';
import { ClientAddress, type FleetTokens } from './auth/client-address.js';
import { FleetSecret } from './auth/fleet-secret.js';
import { PrincipalGuard } from './auth/principal-guard.js';
import { Drain } from './health/drain.js';
import { ReadinessChecks } from './health/readiness-checks.js';
import { logDestination, LogWriter } from './logging/log-writer.js';
import { createLogger, LOGGER, type LogLevel } from './logging/logger.js';
import { InternalHttp, type InternalHttpOptions } from './http/internal-http.js';
import { Pressure } from './pressure/pressure.js';
import { startTracing, TRACER, type Tracing } from './tracing/tracing.js';
import { reportBuild } from './metrics/build-info.js';
import { Metrics } from './metrics/metrics.js';
import { SystemClock, SystemRandom } from './time/system.js';
import { CLOCK, RANDOM } from './time/tokens.js';

/** The parts that a driver is made from. */
interface DriverParts {
  clock: Clock;
  random: Random;
  logger: Logger;
  metrics: Metrics;
}

/** The parts that an application composes its platform from. Drivers are made once and closed with the application. */
export interface PlatformOptions {
  /** Name of the service, on every log line. */
  service: string;
  logLevel: LogLevel;
  /** Shared secret of the fleet, for /internal routes. */
  fleetToken: string;
  /** Accepted beside it, while a new one is brought in. */
  otherFleetTokens?: readonly string[];
  eventLog: (parts: DriverParts) => EventLog | Promise<EventLog>;
  limitStore: (parts: DriverParts) => LimitStore | Promise<LimitStore>;
  /** Base URLs of the other services; none in one process. */
  services?: InternalHttpOptions['services'];
  /** OTLP/HTTP endpoint for traces; without it no tracing code is loaded. */
  otlpEndpoint?: string | null;
  /** Headers that the collector asks for with each call, `name=value` with commas between, values percent-encoded. */
  otlpHeaders?: string | null;
  /** Other time and chance, for tests. */
  clock?: Clock;
  /** Destination of log lines; default: standard output. */
  logTo?: DestinationStream;
}

const TRACING = Symbol('Tracing');
const DROPPED = 'gateway_log_lines_dropped_total';
const DROPPED_HELP = 'Log lines that were given up because their file or pipe took nothing.';

/** Closes what the platform opened, after the last request and after every module that uses it. */
@Injectable()
class PlatformShutdown implements OnApplicationShutdown {
  constructor(
    private readonly eventLog: EventLog,
    private readonly limits: LimitStore,
    private readonly http: InternalHttp,
    @Inject(TRACING) private readonly tracing: Tracing | null,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.eventLog.close();
    await this.limits.close();
    await this.http.close();
    await this.tracing?.shutdown();
  }
}

/** Global: every service module gets its ports, clock, logger and guard from here. */
@Module({})
export class PlatformModule {
  static with(options: PlatformOptions): DynamicModule {
    const logTo = options.logTo ?? logDestination();
    const providers: Provider[] = [
      { provide: CLOCK, useValue: options.clock ?? new SystemClock() },
      { provide: RANDOM, useValue: new SystemRandom() },
      {
        provide: LOGGER,
        useValue: createLogger({ service: options.service, level: options.logLevel }, logTo),
      },
      driverProvider(EventLog, options.eventLog),
      driverProvider(LimitStore, options.limitStore),
      internalHttpProvider(options),
      tracingProvider(options),
      { provide: TRACER, inject: [TRACING], useFactory: tracerOf },
      PlatformShutdown,
      Pressure,
      { provide: Metrics, useFactory: () => metricsOf(options.service, logTo) },
      Drain,
      ReadinessChecks,
      authenticatorProvider(options),
      { provide: FleetSecret, useValue: new FleetSecret(fleetTokens(options)) },
      { provide: ClientAddress, useValue: new ClientAddress(fleetTokens(options)) },
      PrincipalGuard,
    ];
    return { module: PlatformModule, global: true, providers, exports: providers };
  }
}

function metricsOf(service: string, logTo: DestinationStream): Metrics {
  const metrics = new Metrics();
  reportBuild(metrics, service);
  if (logTo instanceof LogWriter) metrics.total(DROPPED, DROPPED_HELP, () => logTo.dropped);
  return metrics;
}

function driverProvider<T>(
  provide: typeof EventLog | typeof LimitStore,
  make: (parts: DriverParts) => T,
): FactoryProvider {
  return {
    provide,
    inject: [CLOCK, RANDOM, LOGGER, Metrics],
    useFactory: (clock: Clock, random: Random, logger: Logger, metrics: Metrics) =>
      make({ clock, random, logger, metrics }),
  };
}

function fleetTokens({ fleetToken, otherFleetTokens = [] }: PlatformOptions): FleetTokens {
  return [fleetToken, ...otherFleetTokens];
}

function authenticatorProvider(options: PlatformOptions): FactoryProvider<Authenticator> {
  return {
    provide: Authenticator,
    inject: [ModuleRef, LimitStore, CLOCK, LOGGER],
    useFactory: (modules: ModuleRef, limits: LimitStore, clock: Clock, logger: Logger) =>
      new Authenticator({
        principals: () => modules.get<PrincipalReader>(PrincipalReader, { strict: false }),
        limits,
        clock,
        fleetTokens: fleetTokens(options),
        onWrongToken: (fields) =>
          logger.warn(fields, 'wrong internal token: its sender has another FLEET_TOKEN than this service'),
      }),
  };
}

function internalHttpProvider({ fleetToken, services = {} }: PlatformOptions): FactoryProvider<InternalHttp> {
  return {
    provide: InternalHttp,
    inject: [CLOCK, RANDOM],
    useFactory: (clock: Clock, random: Random) => new InternalHttp({ clock, random, fleetToken, services }),
  };
}

function tracingProvider({
  otlpEndpoint: endpoint,
  otlpHeaders: headers,
  service,
}: PlatformOptions): FactoryProvider<Tracing | null> {
  return {
    provide: TRACING,
    useFactory: () => (endpoint ? startTracing({ service, endpoint, headers: headers ?? '' }) : null),
  };
}

/** null where tracing is off, so that no hook is registered for it. */
function tracerOf(tracing: Tracing | null): Tracer | null {
  return tracing === null ? null : trace.getTracer('gateway');
}
