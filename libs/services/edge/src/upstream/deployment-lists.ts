import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { UpstreamError, type Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import {
  isRenewed,
  TransportFailure,
  type DeploymentList,
  type DeploymentNames,
  type Provider,
  type ProviderAccess,
  type UpstreamResponse,
} from '@gateway/providers';
import { UndiciTransport } from '@gateway/upstream';
import type { Logger } from 'pino';
import { PlatformPools } from '../config/platform-pools.js';
import { ProviderDirectory } from '../config/provider-directory.js';
import { CredentialReports } from './credential-reports.js';
import { Credentials } from './credentials.js';

/** Time between two looks for resources that are due: a new credential's is read at once. */
const LOOK_MS = 1_000;
const EVERY_MS = 600_000;
/** Time until a resource that did not answer is asked again. */
const AGAIN_MS = 60_000;
/** Longest time that the start waits. */
const START_MS = 5_000;
const BOUNDS = {
  connectTimeoutMs: 3_000,
  firstByteTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
  totalTimeoutMs: 10_000,
  maxBytes: 1_048_576,
};
/** Errors that say nothing of the list. */
const PASSING: readonly number[] = [408, 429];
const JSON_TYPE = 'application/json';

type Asked = ReturnType<PlatformPools['asked']>[number];

/**
 * Reads each resource's own list of deployments at the start, when its credential is new, and every ten minutes. A list
 * that may not be read is none; while a resource does not answer, its last list holds.
 */
@Injectable()
export class DeploymentLists implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private loop: Repeated | null = null;
  private readonly ending = new AbortController();
  private readonly due = new WeakMap<DeploymentNames, number>();

  constructor(
    private readonly directory: ProviderDirectory,
    private readonly pools: PlatformPools,
    private readonly credentials: Credentials,
    private readonly transport: UndiciTransport,
    private readonly reports: CredentialReports,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Waits for the lists, so that the first request finds a deployment with a name of its own. The pools are known by then. */
  async onApplicationBootstrap(): Promise<void> {
    const waited = new AbortController();
    try {
      await Promise.race([this.readDue(), this.clock.sleep(START_MS, waited.signal)]);
    } catch (failure) {
      this.onFault(failure);
    }
    waited.abort();
    this.loop = repeat(this.clock, LOOK_MS, () => this.readDue(), this.onFault, LOOK_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await this.loop?.stop();
  }

  /** Asks the resources whose time has come. */
  async readDue(): Promise<void> {
    const nowMs = this.clock.monotonic();
    const due = this.pools.asked().filter(({ names }) => (this.due.get(names) ?? nowMs) <= nowMs);
    await Promise.all(due.map((asked) => this.read(asked)));
  }

  /** Asks one resource once. */
  async read(asked: Asked): Promise<void> {
    const { names, provider: slug } = asked;
    // Another look must not ask it meanwhile.
    this.due.set(names, Infinity);
    let waitMs = AGAIN_MS;
    try {
      const found = await this.found(asked);
      if (found === undefined || this.ending.signal.aborted) return;
      waitMs = EVERY_MS;
      if ((names.list === null) !== (found === null))
        this.logger.info(
          { provider: slug },
          found === null ? 'a list of deployments may not be read' : 'a list of deployments was read',
        );
      const before = namesIn(names.list);
      this.pools.setListed(names, found);
      // Lists of models follow at once, where anything changed.
      if (before !== namesIn(found)) void this.reports.changed();
    } finally {
      this.due.set(names, this.clock.monotonic() + waitMs);
    }
  }

  /** Returns null for a list that may not be read, undefined where there is no answer that says either. */
  private async found({ provider: slug, member }: Asked): Promise<DeploymentList | null | undefined> {
    const provider = this.directory.providers.get(slug);
    const { deployments } = provider ?? {};
    if (provider === undefined || deployments === undefined) return undefined;
    try {
      const access =
        member === null ? this.directory.access.get(slug) : await this.credentials.pooledAccess(member);
      if (access === undefined) return undefined;
      const response = await this.answer(provider, access, deployments.path);
      const { status } = response;
      if (status === 200) return deployments.read(jsonOf(await response.bytes())) ?? undefined;
      response.cancel();
      return status >= 400 && status < 500 && !PASSING.includes(status) ? null : undefined;
    } catch (failure) {
      // The keys service, the cloud's token service or the resource is away.
      if (failure instanceof TransportFailure || failure instanceof UpstreamError) return undefined;
      throw failure;
    }
  }

  private async answer(provider: Provider, access: ProviderAccess, path: string): Promise<UpstreamResponse> {
    const body = { path, contentType: JSON_TYPE, accept: JSON_TYPE, headers: {}, pieces: [], byteLength: 0 };
    for (let isFirst = true; ; isFirst = false) {
      const request = await provider.prepare({ ...body, method: 'GET' }, access);
      const response = await this.transport.send(request, { ...BOUNDS, signal: this.ending.signal });
      if (!isFirst || !(await isRenewed(provider, access, request, response))) return response;
      response.cancel();
    }
  }

  private readonly onFault = (failure: unknown): void => {
    if (!this.ending.signal.aborted)
      this.logger.warn({ err: failure }, 'a list of deployments could not be asked for');
  };
}

function namesIn(list: DeploymentList | null): string | null {
  return list === null ? null : JSON.stringify([list.isWhole, [...list.names].sort()]);
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined;
    throw failure;
  }
}
