import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kafkaInstallation } from './kafka-jars.js';
import type { KafkaInstallation } from './kafka-jars.js';
import { killAndWait, startLocalProcess } from './local-process.js';
// eslint-disable-next-line @nx/enforce-module-boundaries -- as in postgres.ts.
import { freePort } from '../../../libs/database/src/postgres/free-port.js';
import type { RunningService } from './service.js';

const START_MS = 60_000;
const START_TRIES = 3;
export const CLUSTER_ID = 'TW9kZWxHYXRld2F5VGVzdA';
/** A small heap and the quick compiler only: the broker serves tests, not load. */
const JVM_FLAGS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
const LOG_FLAGS = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
];

interface Ports {
  broker: number;
  controller: number;
}

/** One KRaft broker that is its own controller. A given `address` is kept, for a restart on the same folder. */
export async function startKafka(folder: string, address?: string): Promise<RunningService> {
  const installation = await preparedKafka();
  mkdirSync(folder, { recursive: true });
  const data = join(folder, 'log');
  if (!existsSync(data)) cpSync(join(installation.folder, 'formatted'), data, { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    const broker = address === undefined ? await freePort() : Number(address.split(':')[1]);
    try {
      const server = await launch(installation, folder, { broker, controller: await freePort() }, [
        `-XX:SharedArchiveFile=${join(installation.folder, 'broker.jsa')}`,
      ]);
      return { address: `127.0.0.1:${broker}`, pid: server.pid, stop: () => killAndWait(server) };
    } catch (error) {
      // Another process took a port between the probe and the start.
      if (attempt === START_TRIES || !/Address already in use|BindException/.test(String(error))) throw error;
    }
  }
}

/** Installs Java and downloads the broker where they are missing; 1 ms when nothing is. */
export async function prepareKafka(): Promise<void> {
  await preparedKafka();
}

export async function preparedKafka(): Promise<KafkaInstallation> {
  const installation = await kafkaInstallation();
  await prepare(installation);
  return installation;
}

export function launch(
  installation: KafkaInstallation,
  folder: string,
  ports: Ports,
  jvmFlags: string[],
  properties = serverProperties(join(folder, 'log'), ports),
): ReturnType<typeof startLocalProcess> {
  const config = join(folder, 'server.properties');
  writeFileSync(config, properties);
  return startLocalProcess({
    command: 'java',
    args: [...JVM_FLAGS, ...jvmFlags, ...LOG_FLAGS, '-cp', installation.classPath, 'kafka.Kafka', config],
    logFile: join(folder, 'kafka.log'),
    readyWhen: /Kafka Server started/,
    timeoutMs: START_MS,
  });
}

/**
 * Prepares an installation once: formats an empty log folder that each run copies, which saves a JVM start. It also
 * records the classes that a broker loads, which takes a start from 1.8 s to 0.8 s. Without the record it only starts
 * slower.
 */
async function prepare(installation: KafkaInstallation): Promise<void> {
  const formatted = join(installation.folder, 'formatted');
  if (existsSync(formatted)) return;
  const folder = mkdtempSync(join(tmpdir(), 'gw-kafka-'));
  try {
    const config = join(folder, 'server.properties');
    const ports = { broker: await freePort(), controller: await freePort() };
    writeFileSync(config, serverProperties(join(folder, 'log'), ports));
    const format = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', config];
    await promisify(execFile)('java', ['-cp', installation.classPath, ...format], { timeout: START_MS });
    const draft = `${formatted}-${process.pid}`;
    cpSync(join(folder, 'log'), draft, { recursive: true });

    const archive = join(installation.folder, `broker-${process.pid}.jsa`);
    const server = await launch(installation, folder, ports, [`-XX:ArchiveClassesAtExit=${archive}`]);
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
    if (existsSync(archive)) renameSync(archive, join(installation.folder, 'broker.jsa'));
    // Last, because its presence says that all of this is done; a second run at the same time may have been faster.
    if (existsSync(formatted)) rmSync(draft, { recursive: true });
    else renameSync(draft, formatted);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function serverProperties(logFolder: string, ports: Ports): string {
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${ports.controller}`,
    `listeners=PLAINTEXT://127.0.0.1:${ports.broker},CONTROLLER://127.0.0.1:${ports.controller}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${ports.broker}`,
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=PLAINTEXT',
    `log.dirs=${logFolder}`,
    // A misspelt topic must fail as it would in production.
    'auto.create.topics.enable=false',
    'offsets.topic.num.partitions=1',
    'offsets.topic.replication.factor=1',
    'transaction.state.log.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'share.coordinator.state.topic.num.partitions=1',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    'log.cleaner.dedupe.buffer.size=2097152',
    // Without these a restart after kill -9 takes 12 s.
    'broker.session.timeout.ms=1000',
    'broker.heartbeat.interval.ms=200',
    'controller.quorum.election.timeout.ms=200',
    'controller.quorum.fetch.timeout.ms=500',
    '',
  ].join('\n');
}
