import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import type { Clock, ReportedCredentials, Route } from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { CatalogueConfig } from '../catalogue.config.js';
import { CatalogueDatabase } from '../postgres/catalogue-database.js';

/** A report counts no longer than this: edges report every 15 s, and one report may be lost. */
const REPORT_MS = 60_000;

const PUT = `INSERT INTO platform_credentials (edge, providers, unserved, reported_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (edge) DO UPDATE SET providers = excluded.providers, unserved = excluded.unserved,
    reported_at = excluded.reported_at`;

/** Older reports go while a fresh one is there: the newest of all stays, however long no edge reports. */
const DROP = `DELETE FROM platform_credentials WHERE reported_at <= $1
  AND EXISTS (SELECT 1 FROM platform_credentials WHERE reported_at > $1)`;

/** A route by the names that a report has for it. */
type NamedRoute = Pick<Route, 'model' | 'provider' | 'upstreamModel'>;

/**
 * Reports of the edges on what they can call with credentials of the platform. Kept in the service's
 * database, so that every process of the service knows the same; read from memory.
 */
@Injectable()
export class StoredCredentials implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private known: ReadonlySet<string> | null = null;
  /** Routes that no edge serves though it calls their providers. */
  private unserved: ReadonlySet<string> = new Set();
  private loop: Repeated | null = null;

  constructor(
    private readonly database: CatalogueDatabase,
    private readonly config: CatalogueConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Returns the slugs of those that any edge has; null where no edge has ever reported. */
  providers(): ReadonlySet<string> | null {
    return this.known;
  }

  /** True if an edge can call the route. Before an edge has reported, each one counts. */
  serves({ model, provider, upstreamModel }: NamedRoute): boolean {
    if (this.known === null) return true;
    return this.known.has(provider) && !this.unserved.has(`${model} ${provider} ${upstreamModel}`);
  }

  /** Replaces the report of an edge; null withdraws it. Known here at once, to other processes at their next look. */
  async report(edge: string, credentials: ReportedCredentials | null): Promise<void> {
    const { pool } = this.database;
    if (credentials === null) await pool.query('DELETE FROM platform_credentials WHERE edge = $1', [edge]);
    else {
      const { providers, unserved } = credentials;
      await pool.query(PUT, [edge, providers, unserved, new Date(this.clock.now())]);
    }
    // Reports go by newer ones alone, so that a look only reads.
    await pool.query(DROP, [new Date(this.clock.now() - REPORT_MS)]);
    await this.refresh();
  }

  async refresh(): Promise<void> {
    const { pool } = this.database;
    const { rows } = await pool.query<Row>('SELECT providers, unserved FROM platform_credentials');
    // After the last edge has withdrawn its report nothing is known that is better than what it said.
    if (rows.length === 0) return;
    this.known = new Set(rows.flatMap(({ providers }) => providers));
    this.unserved = servedNowhere(rows);
  }

  onModuleInit(): Promise<void> {
    return this.refresh();
  }

  onApplicationBootstrap(): void {
    this.loop = repeat(
      this.clock,
      this.config.CATALOGUE_POLL_MS,
      () => this.refresh(),
      (failure) => this.logger.warn({ err: failure }, 'the credentials of the edges could not be read again'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }
}

interface Row {
  providers: string[];
  unserved: string[];
}

/** Returns the routes that each edge with their provider says it does not serve. */
function servedNowhere(rows: readonly Row[]): Set<string> {
  const edgesWith = countsOf(rows.flatMap(({ providers }) => providers));
  const saying = countsOf(rows.flatMap(({ unserved }) => unserved));
  return new Set(
    [...saying.keys()].filter((route) => saying.get(route) === edgesWith.get(route.split(' ')[1])),
  );
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
