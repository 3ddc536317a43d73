import 'reflect-metadata';
import { kafkaAccess, kafkaClient, KafkaConfig } from '@gateway/event-log';
import { loadConfig, readFlags } from '@gateway/platform';
import { applyTopics } from './kafka-topics.js';

/** `npm run kafka:topics -- [--brokers host:port,…] [--replication 1]`, with the services' KAFKA_* variables. */
const USAGE = 'usage: npm run kafka:topics -- [--brokers host:port,…] [--replication 1]';
const { values } = readFlags(USAGE, { brokers: { type: 'string' }, replication: { type: 'string' } });

try {
  const given = values.brokers === undefined ? {} : { KAFKA_BROKERS: values.brokers };
  const config = loadConfig(KafkaConfig, { ...process.env, ...given });
  const replication = values.replication === undefined ? undefined : Number(values.replication);
  const kafka = kafkaClient({ ...kafkaAccess(config), clientId: 'kafka-topics' });
  process.stdout.write(`${JSON.stringify(await applyTopics(kafka, { replication }), null, 2)}\n`);
} catch (failure) {
  process.stderr.write(`kafka-topics: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
