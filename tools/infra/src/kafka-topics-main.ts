import 'reflect-metadata';
import { readFlags, refuseFlags } from '@gateway/platform/flags';

/** `npm run kafka:topics -- [--brokers host:port,…] [--replication 1]`, with the services' KAFKA_* variables. */
const USAGE = 'usage: npm run kafka:topics -- [--brokers host:port,…] [--replication 1]';
const { values } = readFlags(USAGE, { brokers: { type: 'string' }, replication: { type: 'string' } });
const replication = values.replication === undefined ? undefined : Number(values.replication);
if (replication !== undefined && !(Number.isInteger(replication) && replication > 0))
  refuseFlags('--replication takes a whole number from 1 on');

// After the flags: what it loads takes most of a second.
const { loadConfig } = await import('@gateway/platform');
const { kafkaAccess, kafkaClient, KafkaConfig } = await import('@gateway/event-log');
const { applyTopics } = await import('./kafka-topics.js');

try {
  const given = values.brokers === undefined ? {} : { KAFKA_BROKERS: values.brokers };
  const config = loadConfig(KafkaConfig, { ...process.env, ...given });
  const kafka = kafkaClient({ ...kafkaAccess(config), clientId: 'kafka-topics' });
  process.stdout.write(`${JSON.stringify(await applyTopics(kafka, { replication }), null, 2)}\n`);
} catch (failure) {
  process.stderr.write(`kafka-topics: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
