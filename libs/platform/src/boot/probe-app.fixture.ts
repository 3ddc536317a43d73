import {
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  Post,
  Query,
  Req,
  type DynamicModule,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiError, type Clock, PrincipalReader } from '@gateway/contracts';
import { EventLogDouble, LimitStoreDouble, PrincipalReaderDouble } from '@gateway/testing';
import { Type } from 'class-transformer';
import {
  IsArray,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Access } from '../auth/access.js';
import { keyOf, principalOf } from '../auth/principal-of.js';
import { pageOf, PageQuery } from '../http/page.js';
import { Drain } from '../health/drain.js';
import { ReadinessChecks } from '../health/readiness-checks.js';
import { Pressure, type PressureLimits } from '../pressure/pressure.js';
import type { Serve, Unanswered } from '../request/gateway-request.js';
import { responseHeaders } from '../request/response-headers.js';
import { PlatformModule } from '../platform.module.js';
import { SystemClock, SystemRandom } from '../time/system.js';
import { bootstrap, type BootConfig, type RunningApp } from './bootstrap.js';

class WidgetPart {
  @IsInt()
  size!: number;

  @IsOptional()
  @IsObject()
  labels?: Record<string, unknown>;
}

/** A small service that uses every part of the platform; only specs start it. */
class WidgetBody {
  @IsString()
  @Length(1, 20)
  name!: string;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(200)
  size?: number;

  @IsOptional()
  @IsObject()
  labels?: Record<string, unknown>;

  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => WidgetPart)
  parts?: WidgetPart[];
}

@Controller('v1')
class ProbeController {
  @Get('open')
  @Access({ public: true })
  open(): object {
    return { ok: true };
  }

  @Get('address')
  @Access({ public: true })
  address(@Req() request: FastifyRequest): object {
    return { address: request.clientIp };
  }

  @Post('open')
  @Access({ public: true })
  swallow(@Req() request: FastifyRequest): object {
    return { length: JSON.stringify(request.body ?? null).length };
  }

  @Post('widgets')
  @Access({ key: true, session: true, adminKey: { scope: 'keys:write' } })
  create(@Body() body: WidgetBody, @Req() request: FastifyRequest): object {
    return { kind: principalOf(request).kind, ...body };
  }

  @Post('guarded')
  @Access({ key: true })
  swallowGuarded(@Req() request: FastifyRequest): object {
    return this.swallow(request);
  }

  @Get('evaluate')
  @Access({ key: { permission: 'evaluate:write' } })
  evaluate(): object {
    return { ok: true };
  }

  @Get('admin')
  @Access({ superAdmin: true })
  admin(): object {
    return { ok: true };
  }

  @Get('broken')
  @Access({ public: true })
  broken(): object {
    throw new Error('connect to postgres://user:hunter2@db failed');
  }

  @Get('away')
  @Access({ public: true })
  away(): object {
    throw new ApiError('service_unavailable');
  }

  @Get('missing')
  @Access({ public: true })
  missing(): object {
    throw new ApiError('not_found');
  }

  @Get('list')
  @Access({ public: true })
  list(@Query() query: PageQuery): object {
    return pageOf([], 0, query);
  }

  @Post('messages')
  @Access({ public: true })
  messages(@Body() body: WidgetBody): object {
    return body;
  }
}

@Controller('v1')
class ForgetfulController {
  @Get('forgotten')
  forgotten(): object {
    return { ok: true };
  }
}

/** More than the kernel takes of an answer that nobody reads. */
export const LARGE_BYTES = 16_777_216;

/** Routes without Nest, as the edge registers its own. */
@Injectable()
class RawRoutes implements OnModuleInit {
  constructor(private readonly adapters: HttpAdapterHost<FastifyAdapter>) {}

  async onModuleInit(): Promise<void> {
    const instance = this.adapters.httpAdapter.getInstance<FastifyInstance>();
    // As the edge's: awaiting a plugin completes the routes that Nest has registered until then.
    await instance.register((_scope, _options, done) => done());
    instance.get('/v1/raw', { config: { access: { key: true }, admits: true } }, (request) => ({
      key: keyOf(request).keyId,
    }));
    await instance.register((scope, _options, done) => {
      scope.get('/v1/raw-away', { config: { access: { public: true } } }, () => {
        throw new ApiError('service_unavailable');
      });
      done();
    });
    this.registerEither(instance);
    instance.get('/v1/file', { config: { access: { public: true }, isFile: true } }, () => 'a file');
    instance.get('/v1/large', { config: { access: { public: true } } }, (_request, reply) =>
      reply.type('application/octet-stream').send(Buffer.alloc(LARGE_BYTES)),
    );
    instance.get('/v1/hijacked', { config: { access: { public: true } } }, (request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, responseHeaders(request)).end('raw');
    });
    instance.get('/v1/slow', { config: { access: { public: true } } }, (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('first');
      this.slow.push(() => reply.raw.end(' last'));
    });
  }

  /** A route that says by which way its request came, and fails as its body asks. */
  private registerEither(instance: FastifyInstance): void {
    const judge = (text: string): Unanswered | null => {
      const headers = { 'X-Left': '7' };
      if (text.includes('limited')) return { error: new ApiError('rate_limit_exceeded'), headers };
      return text.includes('broken') ? { error: new Error('a bug'), headers } : null;
    };
    const serve: Serve = async (request, answer) => {
      const text = String(request.body);
      if (text.includes('thrown')) throw new Error('a bug');
      const unanswered = judge(text);
      if (unanswered !== null) return unanswered;
      answer.writeHead(200, { ...responseHeaders(request), 'x-way': 'past' }).end(text);
      return null;
    };
    for (const [path, admits] of [
      ['/v1/either', true],
      ['/v1/unadmitted', false],
    ] as const) {
      const config = { access: { key: true }, admits, serve } as const;
      instance.post(path, { config }, async (request, reply) => {
        const text = JSON.stringify(request.body ?? null);
        const unanswered = text.includes('thrown') ? { error: new Error('a bug'), headers: {} } : judge(text);
        if (unanswered === null) return reply.header('x-way', 'fastify').send(text);
        void reply.headers(unanswered.headers);
        throw unanswered.error;
      });
    }
  }

  /** Ends each slow answer. */
  readonly slow: (() => void)[] = [];
}

@Controller('internal')
class InternalController {
  @Get('secret')
  @Access({ internal: true })
  secret(): object {
    return { ok: true };
  }
}

export interface Probe extends RunningApp {
  principals: PrincipalReaderDouble;
  /** Newest version by account, as Redis would know it. */
  versions: Map<string, number>;
  /** Ends the answers of /v1/slow. */
  slow: (() => void)[];
  drain: Drain;
  readiness: ReadinessChecks;
  pressure: Pressure;
}

export const PROBE_FLEET_TOKEN = 'fleet-token-of-the-probe';
export const PROBE_OTHER_FLEET_TOKEN = 'fleet-token-that-comes-next';

/** Test and service share an event loop: a busy machine must not make the service refuse. */
const NONE = { some: Infinity, all: Infinity };

export interface ProbeOptions {
  clock?: Clock;
  drainAcceptMs?: number;
  drainGraceMs?: number;
  /** Adds a handler that declares no access. */
  unguarded?: boolean;
  pressure?: PressureLimits;
  sendingMs?: BootConfig['sendingMs'];
  tls?: BootConfig['tls'];
  stallMs?: number;
  metrics?: BootConfig['metrics'];
  trustedProxies?: BootConfig['trustedProxies'];
  /** Base URL of a collector of traces; default: there are none. */
  otlpEndpoint?: string;
  otlpHeaders?: string;
  /** Takes each line of the log; default: nothing is logged. */
  onLog?: (line: string) => void;
}

/** Starts the probe on a free port. */
export async function startProbe(options: ProbeOptions = {}): Promise<Probe> {
  const principals = new PrincipalReaderDouble();
  const clock = options.clock ?? new SystemClock();
  const limits = new LimitStoreDouble({ clock, random: new SystemRandom() });
  const platform = PlatformModule.with({
    service: 'probe',
    logLevel: options.onLog === undefined ? 'silent' : 'info',
    logTo: options.onLog === undefined ? undefined : { write: options.onLog },
    otlpEndpoint: options.otlpEndpoint ?? null,
    otlpHeaders: options.otlpHeaders ?? null,
    fleetToken: PROBE_FLEET_TOKEN,
    otherFleetTokens: [PROBE_OTHER_FLEET_TOKEN],
    eventLog: () => new EventLogDouble(),
    limitStore: () => limits,
    clock,
  });
  class ProbeModule {}
  Module({
    imports: [platform],
    controllers: [ProbeController, InternalController, ...(options.unguarded ? [ForgetfulController] : [])],
    providers: [{ provide: PrincipalReader, useValue: principals }, RawRoutes],
  })(ProbeModule);
  const module: DynamicModule = { module: ProbeModule };
  const running = await bootstrap({
    name: 'probe',
    module,
    config: {
      host: '127.0.0.1',
      port: 0,
      tls: options.tls,
      drainAcceptMs: options.drainAcceptMs,
      drainGraceMs: options.drainGraceMs ?? 1_000,
      sendingMs: options.sendingMs,
      stallMs: options.stallMs,
      metrics: options.metrics,
      trustedProxies: options.trustedProxies,
      pressure: options.pressure ?? { delayMs: NONE, rssBytes: NONE, bodyBytes: NONE },
    },
  });
  return {
    ...running,
    principals,
    versions: limits.versions,
    slow: running.app.get(RawRoutes).slow,
    drain: running.app.get(Drain),
    readiness: running.app.get(ReadinessChecks),
    pressure: running.app.get(Pressure),
  };
}
