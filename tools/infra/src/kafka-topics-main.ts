import 'reflect-metadata';
import { readFlags, refuseFlags } from '@gateway/platform/flags';

/** Creates and configures the topics, or gives one more partitions, with the services' KAFKA_* variables. */
const USAGE = `usage: npm run kafka:topics -- [--brokers host:port,…] [--replication 1]
       npm run kafka:topics -- --grow TOPIC=PARTITIONS [--replication 1] [--ignore-group GROUP]… [--drain-seconds 300] [--hold-seconds 310]`;
const { values } = readFlags(USAGE, {
  brokers: { type: 'string' },
  replication: { type: 'string' },
  grow: { type: 'string' },
  'ignore-group': { type: 'string', multiple: true, default: [] },
  'drain-seconds': { type: 'string', default: '300' },
  // Clients ask for metadata again after five minutes.
  'hold-seconds': { type: 'string', default: '310' },
});
const replication = values.replication === undefined ? undefined : Number(values.replication);
if (replication !== undefined && !(Number.isInteger(replication) && replication > 0))
  refuseFlags('--replication takes a whole number from 1 on');

const [, topic, partitions] = /^([\w.]+)=([1-9]\d{0,3})$/.exec(values.grow ?? '') ?? [];
if (values.grow !== undefined && topic === undefined)
  refuseFlags('--grow takes a topic and its partitions, as in gateway.usage.v1=96');
const [drainMs, holdMs] = [values['drain-seconds'], values['hold-seconds']].map(
  (text) => Number(text) * 1_000,
);
if (!(drainMs > 0 && holdMs > 0)) refuseFlags('--drain-seconds and --hold-seconds take numbers above 0');

// After the flags: what it loads takes most of a second.
const { loadConfig } = await import('@gateway/platform');
const { kafkaAccess, kafkaClient, KafkaConfig } = await import('@gateway/event-log');
const { applyTopics } = await import('./kafka-topics.js');
const { growTopic } = await import('./kafka-growth.js');

try {
  const given = values.brokers === undefined ? {} : { KAFKA_BROKERS: values.brokers };
  const config = loadConfig(KafkaConfig, { ...process.env, ...given });
  const kafka = kafkaClient({ ...kafkaAccess(config), clientId: 'kafka-topics' });
  if (topic === undefined) {
    process.stdout.write(`${JSON.stringify(await applyTopics(kafka, { replication }), null, 2)}\n`);
  } else {
    const growth = {
      topic,
      partitions: Number(partitions),
      drainMs,
      holdMs,
      ignored: values['ignore-group'],
    };
    const say = (line: string): void => void process.stdout.write(`${line}\n`);
    await growTopic(kafka, growth, { replication, say });
  }
} catch (failure) {
  process.stderr.write(`kafka-topics: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
