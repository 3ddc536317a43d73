import { Inject, Injectable } from '@nestjs/common';
import {
  BREAKER_STATES,
  CatalogueReader,
  FIGURE_CLASSES,
  HEALTH_STATES,
  RouteHealth,
  type Clock,
  type ProviderHealth,
  type ProviderRecord,
  type ProviderState,
  type ReportedCredentials,
  type RouteFigures,
} from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import { medianOf } from '@gateway/routing';
import type { Logger } from 'pino';
import { StoredCredentials } from '../availability/stored-credentials.js';
import { CatalogueDatabase } from '../postgres/catalogue-database.js';

const WINDOW_MS = 30 * 60_000;
/** The window moves on in steps of this. */
const SLOT_MS = 5 * 60_000;
const READ_EVERY_MS = 15_000;
/** A state counts no longer than this: edges report every 15 s, and one report may be lost. */
const STATE_MS = 60_000;
const STATES_KEPT_MS = 24 * 3_600_000;
/** Edges of a provider whose newest reports are kept: each start of an edge has a name of its own. */
const STATES_MAX = 256;

const NOT_MEASURED: ProviderHealth = { uptime_30m: null, latency_p50_ms: null, throughput_p50: null };

/** Largest count in a slot: a larger one says no more, and this fits four bytes. */
const COUNT_MAX = 2_000_000_000;
const MORE = (one: string, other: string): string => `least(${one}::bigint + ${other}, ${COUNT_MAX})::int`;
const ADDED = (column: string): string => `${column} = (SELECT array_agg(${MORE('a', 'b')} ORDER BY n)
  FROM unnest(route_health.${column}, excluded.${column}) WITH ORDINALITY AS added(a, b, n))`;

/** Always in one order: two reports that meet lock the same rows one after the other. */
const ADD = `INSERT INTO route_health (slot, provider, model_id, tries, faults, latency, speed)
  SELECT $1, provider, model, tries, faults, latency, speed
  FROM jsonb_to_recordset($2::jsonb)
    AS seen(provider text, model text, tries int, faults int, latency int[], speed int[])
  ORDER BY provider, model
  ON CONFLICT (slot, provider, model_id) DO UPDATE SET tries = ${MORE('route_health.tries', 'excluded.tries')},
    faults = ${MORE('route_health.faults', 'excluded.faults')}, ${ADDED('latency')}, ${ADDED('speed')}`;

const PUT_STATES = `INSERT INTO provider_state (provider, edge, breaker, last_error, health, reported_at)
  SELECT provider, $1, breaker, last_error, health, $2
  FROM jsonb_to_recordset($3::jsonb) AS seen(provider text, breaker text, last_error jsonb, health text)
  ON CONFLICT (provider, edge) DO UPDATE SET breaker = excluded.breaker, last_error = excluded.last_error,
    health = excluded.health, reported_at = excluded.reported_at`;

const DROP_STATES = `DELETE FROM provider_state WHERE reported_at <= $1 OR (provider, edge) IN (
  SELECT provider, edge FROM (
    SELECT provider, edge, row_number() OVER (PARTITION BY provider ORDER BY reported_at DESC, edge) AS place
    FROM provider_state) AS placed
  WHERE place > $2)`;

interface StoredState extends ProviderState {
  reported_at: Date;
}

/**
 * The reports of all edges, added up in slots of five minutes in the service's database. Every process of the service
 * shows the same. Reads are answered from memory.
 */
@Injectable()
export class StoredRouteHealth extends RouteHealth {
  private known: ReadonlyMap<string, ProviderHealth> = new Map();
  private states: ReadonlyMap<string, readonly StoredState[]> = new Map();
  private loop: Repeated | null = null;

  constructor(
    private readonly database: CatalogueDatabase,
    private readonly catalogue: CatalogueReader,
    private readonly credentials: StoredCredentials,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  start(): void {
    this.loop = repeat(
      this.clock,
      READ_EVERY_MS,
      () => this.refresh(),
      (failure) => this.logger.warn({ err: failure }, 'the health of providers could not be read again'),
    );
  }

  async stop(): Promise<void> {
    await this.loop?.stop();
  }

  /** Returns the health of a provider with one model, or with all that it serves. */
  of(provider: string, modelId?: string): ProviderHealth {
    return this.known.get(nameOf(provider, modelId)) ?? NOT_MEASURED;
  }

  /** The worst breaker and health, and the newest error, of all edges. */
  stateOf(provider: string): Pick<ProviderRecord, 'breaker' | 'last_error' | 'health'> {
    const states = this.states.get(provider) ?? [];
    const since = this.clock.now() - STATE_MS;
    const recent = states.filter(({ reported_at }) => reported_at.getTime() > since);
    const breakers = new Set(recent.map(({ breaker }) => breaker));
    const answers = new Set(recent.map(({ health }) => health));
    const errors = states.flatMap(({ last_error }) => last_error ?? []);
    errors.sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
    return {
      breaker: BREAKER_STATES.findLast((state) => breakers.has(state)) ?? null,
      last_error: errors.at(0) ?? null,
      health: HEALTH_STATES.findLast((state) => answers.has(state)) ?? null,
    };
  }

  /** A provider that the catalogue has not for a model is passed over: nobody is shown it, and names have no end. */
  override async report(figures: readonly RouteFigures[]): Promise<void> {
    const { models } = this.catalogue.snapshot();
    const routes = new Set(
      models.flatMap((one) => one.routes.map(({ provider, model }) => nameOf(provider, model))),
    );
    const known = figures.filter(({ provider, model }) => routes.has(nameOf(provider, model)));
    if (known.length === 0) return;
    const slot = new Date(Math.floor(this.clock.now() / SLOT_MS) * SLOT_MS);
    await this.database.pool.query(ADD, [slot, JSON.stringify([...summed(known).values()])]);
  }

  override async reportStates(edge: string, states: readonly ProviderState[]): Promise<void> {
    const { models } = this.catalogue.snapshot();
    const providers = new Set(models.flatMap(({ routes }) => routes.map(({ provider }) => provider)));
    const known = states.filter(({ provider }) => providers.has(provider));
    if (known.length === 0) return;
    const at = new Date(this.clock.now());
    await this.database.pool.query(PUT_STATES, [edge, at, JSON.stringify(known)]);
  }

  override reportCredentials(edge: string, credentials: ReportedCredentials | null): Promise<void> {
    return this.credentials.report(edge, credentials);
  }

  /** Takes what was reported up to now into memory; what is older than the window goes. */
  async refresh(): Promise<void> {
    const { pool } = this.database;
    const since = new Date(this.clock.now() - WINDOW_MS);
    await pool.query('DELETE FROM route_health WHERE slot <= $1', [since]);
    const { rows } = await pool.query<RouteFigures>(
      'SELECT provider, model_id AS model, tries, faults, latency, speed FROM route_health WHERE slot > $1',
      [since],
    );
    // Without a model's name: what all of a provider's models have together.
    const ofProviders = rows.map((row) => ({ ...row, model: '' }));
    await pool.query(DROP_STATES, [new Date(this.clock.now() - STATES_KEPT_MS), STATES_MAX]);
    const states = await pool.query<StoredState>(
      'SELECT provider, breaker, last_error, health, reported_at FROM provider_state',
    );
    const byProvider = new Map<string, StoredState[]>();
    for (const state of states.rows)
      byProvider.set(state.provider, [...(byProvider.get(state.provider) ?? []), state]);
    this.states = byProvider;
    this.known = new Map([...summed([...rows, ...ofProviders])].map(([name, sum]) => [name, healthOf(sum)]));
  }
}

function nameOf(provider: string, modelId = ''): string {
  return `${provider} ${modelId}`;
}

/** One of each name. */
function summed(rows: readonly RouteFigures[]): Map<string, RouteFigures> {
  const sums = new Map<string, RouteFigures>();
  for (const row of rows) {
    const name = nameOf(row.provider, row.model);
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? row : addedUp(sum, row));
  }
  return sums;
}

function addedUp(one: RouteFigures, other: RouteFigures): RouteFigures {
  const added = (a: readonly number[], b: readonly number[]): number[] =>
    Array.from({ length: FIGURE_CLASSES }, (_, at) => a[at] + b[at]);
  return {
    ...one,
    tries: one.tries + other.tries,
    faults: one.faults + other.faults,
    latency: added(one.latency, other.latency),
    speed: added(one.speed, other.speed),
  };
}

function healthOf({ tries, faults, latency, speed }: RouteFigures): ProviderHealth {
  const [latencyMs, tokensPerSecond] = [medianOf(latency), medianOf(speed)];
  return {
    uptime_30m: tries === 0 ? null : Math.round((1 - faults / tries) * 10_000) / 10_000,
    latency_p50_ms: latencyMs === null ? null : Math.round(latencyMs),
    throughput_p50: tokensPerSecond === null ? null : Math.round(tokensPerSecond * 10) / 10,
  };
}
