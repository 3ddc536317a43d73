import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { CatalogueSnapshot, Route } from '@gateway/contracts';
import { KafkaEventLog } from '@gateway/event-log';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { freePorts } from '@gateway/testing';
import { IngestionUnits, type UnitPlace } from './ingestion-units.js';
import { root, start, type Started } from './processes.js';

export type Servers = Readonly<Record<string, string>>;

const USAGE_TOPIC = 'gateway.usage.v1';
const RUN_TS = ['--no-warnings', '--import', './tools/infra/run-ts.mjs'];
const APPEND = 2_000;
const FEED_MS = 10;
const SOURCES = { clock: new SystemClock(), random: new SystemRandom() };

/** Kafka, Redis and, unless `more` names one, PostgreSQL of this run, with the environment of the services on them. */
export async function startServers(running: Started[], more: Servers = {}): Promise<Servers> {
  const infra = await start({
    args: [...RUN_TS, 'tools/infra/src/cli.ts', 'up', ...('DATABASE_URL' in more ? ['redis', 'kafka'] : [])],
    readyWhen: /^(\{.*KAFKA_BROKERS.*\})$/m,
  });
  running.push(infra);
  const addresses = JSON.parse(infra.ready[1]) as Record<string, string>;
  execFileSync(process.execPath, ['dist/tools/infra/src/kafka-topics-main.js', '--replication', '1'], {
    cwd: root,
    env: { ...process.env, ...addresses },
    stdio: 'ignore',
  });
  const [usagePort, cataloguePort, keysPort] = await freePorts(3);
  return {
    ...addresses,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    DRAIN_ACCEPT_MS: '0',
    FLEET_TOKEN: randomBytes(32).toString('base64url'),
    USAGE_URL: `http://127.0.0.1:${usagePort}`,
    CATALOGUE_URL: `http://127.0.0.1:${cataloguePort}`,
    KEYS_URL: `http://127.0.0.1:${keysPort}`,
    USAGE_MIGRATE_AT_START: 'true',
    CATALOGUE_MIGRATE_AT_START: 'true',
    KEYS_MIGRATE_AT_START: 'true',
    SIMULATED_PROVIDER: 'true',
    ...more,
  };
}

export async function startApp(
  app: 'usage' | 'catalogue' | 'keys',
  servers: Servers,
  running: Started[],
  nodeArgs: string[] = [],
): Promise<Started> {
  const url = servers[`${app.toUpperCase()}_URL`];
  const started = await start({
    args: [...nodeArgs, `dist/apps/${app}/src/main.js`],
    env: { ...servers, LOG_LEVEL: 'info', PORT: new URL(url).port, METRICS_PORT: new URL(url).port },
    readyWhen: /"msg":"listening"/,
  });
  running.push(started);
  return started;
}

/** A priced route of the running catalogue, so that the service prices each unit again as it does in a fleet. */
async function somePrice(servers: Servers): Promise<{ snapshotId: string; route: Route }> {
  const answer = await fetch(`${servers['CATALOGUE_URL']}/internal/catalogue/snapshot`, {
    headers: { 'x-fleet-token': servers['FLEET_TOKEN'] },
  });
  if (!answer.ok) throw new Error(`The catalogue answered ${answer.status}.`);
  const snapshot = (await answer.json()) as CatalogueSnapshot;
  const model = snapshot.models.find(({ record }) => record.id === 'simulator/chat');
  if (model === undefined) throw new Error('The catalogue has no simulated model.');
  return { snapshotId: snapshot.id, route: model.routes[0] };
}

export async function fill(log: KafkaEventLog, units: IngestionUnits, count: number): Promise<void> {
  for (let left = count; left > 0; left -= APPEND) {
    const records = Array.from({ length: Math.min(left, APPEND) }, () => units.next(USAGE_TOPIC));
    await log.append(USAGE_TOPIC, records);
  }
}

/** Appends as shippers do: a small batch every few milliseconds. */
export async function feed(
  log: KafkaEventLog,
  units: IngestionUnits,
  count: number,
  perSecond: number,
  signal?: AbortSignal,
): Promise<void> {
  const begin = performance.now();
  for (let sent = 0; sent < count && signal?.aborted !== true; await pause(FEED_MS)) {
    const due = Math.min(count, Math.ceil(((performance.now() - begin) / 1_000) * perSecond));
    await log.append(
      USAGE_TOPIC,
      Array.from({ length: due - sent }, () => units.next(USAGE_TOPIC)),
    );
    sent = due;
  }
}

/** The log of this run. */
export function eventLogOf(servers: Servers, clientId: string): KafkaEventLog {
  return new KafkaEventLog({ brokers: servers['KAFKA_BROKERS'].split(','), clientId, ...SOURCES });
}

/** Units of these places in turn, priced by the catalogue of this run. */
export async function unitsFor(
  places: number | readonly UnitPlace[],
  servers: Servers,
): Promise<IngestionUnits> {
  return new IngestionUnits(places, await somePrice(servers), SOURCES);
}
