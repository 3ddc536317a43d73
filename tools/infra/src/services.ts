import { join } from 'node:path';
import { ComposeProject } from './compose.js';
import { createTopics } from './kafka-topics.js';
import { startKafka } from './kafka.js';
import { startPostgres } from './postgres.js';
import { startRedis, startRedisCluster } from './redis.js';
import { startSecuredKafka } from './secured-kafka.js';
import { startSecuredRedis } from './secured-redis.js';
import type { RunningService, SecuredKind, ServiceKind } from './service.js';
import { startStack, type RunningStack, type StackKind } from './stack.js';

type Environment = Record<string, string | undefined>;

interface OwnService {
  kind: 'postgres' | 'redis' | 'kafka' | SecuredKind;
  folder: string;
  running: RunningService;
}

const ADDRESS_VARIABLES = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', kafka: 'KAFKA_BROKERS' } as const;

/**
 * The servers of one run. Each shared one starts at its first use and belongs to all workers; each own one
 * belongs to the test that asked and may be killed, frozen and restarted.
 * Order of choice: an address in the environment (never stopped by us), Docker Compose, a local process.
 */
export class Services {
  private readonly folder: string;
  private readonly environment: Environment;
  private readonly compose: ComposeProject;
  private readonly shared = new Map<ServiceKind, Promise<RunningService>>();
  private readonly own = new Map<string, OwnService>();
  private readonly stacks = new Map<StackKind, Promise<RunningStack>>();
  private readonly starting = new Set<Promise<unknown>>();
  private nextId = 1;
  private isClosed = false;

  constructor(folder: string, environment: Environment) {
    this.folder = folder;
    this.environment = environment;
    this.compose = new ComposeProject(`gw-${process.pid}`);
  }

  /** The one server of this kind of the run. A failed start is remembered: the next caller gets the same sentence. */
  async sharedAddress(kind: ServiceKind): Promise<string> {
    let service = this.shared.get(kind);
    if (!service) {
      service = this.track(this.startShared(kind));
      this.shared.set(kind, service);
    }
    return (await service).address;
  }

  /** The one whole gateway of this kind of the run, as its program describes it. A failed start is remembered. */
  async stack(kind: StackKind): Promise<Record<string, unknown>> {
    let stack = this.stacks.get(kind);
    if (!stack) {
      stack = this.track(startStack(kind, join(this.folder, 'guard.sock')));
      this.stacks.set(kind, stack);
    }
    return (await stack).describe();
  }

  /** A local process of its own; Docker is not asked, because tests signal it by its process id. */
  async startOwn(kind: OwnService['kind']): Promise<{ id: string; address: string; pid?: number }> {
    const id = `${kind}-${this.nextId++}`;
    const folder = join(this.folder, id);
    const running = await this.track(startLocal(kind, folder));
    this.own.set(id, { kind, folder, running });
    return { id, address: running.address, pid: running.pid };
  }

  /** Kills it when it still runs, then starts it at the same address on the same folder. */
  async restartOwn(id: string): Promise<{ id: string; address: string; pid?: number }> {
    const service = this.ownService(id);
    await service.running.stop();
    service.running = await this.track(startLocal(service.kind, service.folder, service.running.address));
    return { id, address: service.running.address, pid: service.running.pid };
  }

  async stopOwn(id: string): Promise<void> {
    const service = this.ownService(id);
    await service.running.stop();
    this.own.delete(id);
  }

  /** Stops everything that this run started, whatever it was doing. */
  async close(): Promise<void> {
    this.isClosed = true;
    // A start under way ends or fails first, so that it leaves no process that nobody knows.
    await Promise.allSettled(this.starting);
    // They go before what they run on, and give back what they were lent.
    const stacks = await Promise.allSettled(this.stacks.values());
    await Promise.allSettled(stacks.flatMap((one) => (one.status === 'fulfilled' ? [one.value.stop()] : [])));
    const shared = await Promise.allSettled(this.shared.values());
    const running = [
      ...shared.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
      ...[...this.own.values()].map((service) => service.running),
    ];
    await Promise.allSettled(running.map((service) => service.stop()));
    await this.compose.down();
  }

  private ownService(id: string): OwnService {
    const service = this.own.get(id);
    if (!service) throw new Error(`No server ${id} belongs to this run.`);
    return service;
  }

  private async startShared(kind: ServiceKind): Promise<RunningService> {
    if (kind === 'redis-cluster') return startRedisCluster(join(this.folder, kind));
    const given = this.environment[ADDRESS_VARIABLES[kind]];
    if (given) return { address: given, stop: () => Promise.resolve() };
    const service = (await this.compose.isAvailable())
      ? await this.compose.start(kind)
      : await startLocal(kind, join(this.folder, kind));
    if (kind === 'kafka') {
      await createTopics([service.address], { replication: 1, partitionsMax: 4 }).catch(
        async (error: unknown) => {
          await service.stop();
          throw error;
        },
      );
    }
    return service;
  }

  private track<T>(start: Promise<T>): Promise<T> {
    if (this.isClosed) throw new Error('The run is over.');
    this.starting.add(start);
    const forget = (): void => void this.starting.delete(start);
    start.then(forget, forget);
    return start;
  }
}

function startLocal(kind: OwnService['kind'], folder: string, address?: string): Promise<RunningService> {
  switch (kind) {
    case 'postgres':
      return startPostgres(folder, address === undefined ? undefined : Number(new URL(address).port));
    case 'redis':
      return startRedis(folder, address === undefined ? undefined : Number(new URL(address).port));
    case 'kafka':
      return startKafka(folder, address);
    case 'secured-redis':
      return startSecuredRedis(folder);
    case 'secured-kafka':
      return startSecuredKafka(folder);
  }
}
