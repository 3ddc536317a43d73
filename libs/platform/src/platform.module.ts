import { Module, type DynamicModule, type FactoryProvider, type Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { EventLog, LimitStore, PrincipalReader, type Clock } from '@gateway/contracts';
import { Authenticator } from './auth/authenticator.js';
import { PrincipalGuard } from './auth/principal-guard.js';
import { Drain } from './health/drain.js';
import { ReadinessChecks } from './health/readiness-checks.js';
import { createLogger, LOGGER, type LogLevel } from './logging/logger.js';
import { Metrics } from './metrics/metrics.js';
import { SystemClock } from './time/system-clock.js';
import { SystemRandom } from './time/system-random.js';
import { CLOCK, RANDOM } from './time/tokens.js';

/** What an application composes its platform from. Drivers are made once and closed with the application. */
export interface PlatformOptions {
  /** Name of the service, on every log line. */
  service: string;
  logLevel: LogLevel;
  /** Shared secret of the fleet, for /internal routes. */
  fleetToken: string;
  eventLog: () => EventLog | Promise<EventLog>;
  limitStore: () => LimitStore | Promise<LimitStore>;
  /** Other time and chance, for tests. */
  clock?: Clock;
}

/** Global: every service module gets its ports, clock, logger and guard from here. */
@Module({})
export class PlatformModule {
  static with(options: PlatformOptions): DynamicModule {
    const providers: Provider[] = [
      { provide: CLOCK, useValue: options.clock ?? new SystemClock() },
      { provide: RANDOM, useValue: new SystemRandom() },
      { provide: LOGGER, useValue: createLogger({ service: options.service, level: options.logLevel }) },
      { provide: EventLog, useFactory: options.eventLog },
      { provide: LimitStore, useFactory: options.limitStore },
      Metrics,
      Drain,
      ReadinessChecks,
      authenticatorProvider(options),
      PrincipalGuard,
    ];
    return { module: PlatformModule, global: true, providers, exports: providers };
  }
}

function authenticatorProvider({ fleetToken }: PlatformOptions): FactoryProvider<Authenticator> {
  return {
    provide: Authenticator,
    inject: [ModuleRef, LimitStore, CLOCK],
    useFactory: (modules: ModuleRef, limits: LimitStore, clock: Clock) =>
      new Authenticator({
        principals: () => modules.get<PrincipalReader>(PrincipalReader, { strict: false }),
        limits,
        clock,
        fleetToken,
      }),
  };
}
