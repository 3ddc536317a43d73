import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, testKafka } from '@gateway/testing';
import { TOPIC } from '@gateway/contracts';
import kafkajs from 'kafkajs';
import { createTopics, plannedTopics } from './kafka-topics.js';
import { repositoryRoot } from './repository.js';

const yaml = readFileSync(join(repositoryRoot, 'deploy/kafka/topics.yaml'), 'utf8');

describe('plannedTopics', () => {
  it('plans each topic of the contracts and a dead-letter topic for it, and no other', () => {
    const names = plannedTopics(yaml).map((plan) => plan.name);
    const declared = Object.values(TOPIC);
    expect(names.sort()).toEqual([...declared, ...declared.map((name) => `${name}.dlq`)].sort());
  });

  it('asks for three copies of which two must confirm, and for one on a single broker', () => {
    for (const plan of plannedTopics(yaml)) {
      expect([plan.replication, plan.config['min.insync.replicas']]).toEqual([3, '2']);
    }
    for (const plan of plannedTopics(yaml, { replication: 1 })) {
      expect([plan.replication, plan.config['min.insync.replicas']]).toEqual([1, '1']);
    }
  });

  it.each([
    ['topics: []', 'defaults must be a mapping'],
    [
      'defaults: {replication: 0, config: {}}\ndeadLetter: {}\ntopics: []',
      'defaults.replication must be a whole number',
    ],
    [
      'defaults: {replication: 1, config: {}}\ndeadLetter: {}\ntopics: [{partitions: 1}]',
      'every topic needs a name',
    ],
  ])('names the faulty member of %j', (text, message) => {
    expect(() => plannedTopics(text)).toThrow(message);
  });
});

describe('createTopics', () => {
  it('creates what is missing, repeats harmlessly and puts changed settings right', async () => {
    const { brokers, prefix } = await testKafka();
    const options = { prefix, replication: 1, partitionsMax: 2 };
    const reports = await Promise.all([createTopics(brokers, options), createTopics(brokers, options)]);
    expect(reports.flatMap((report) => report.otherPartitions)).toEqual([]);

    const topic = `${prefix}gateway.usage.v1`;
    const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    const retention = async (): Promise<string | undefined> => {
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
      });
      return resources[0].configEntries.find((entry) => entry.configName === 'retention.ms')?.configValue;
    };
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: kafkajs.ConfigResourceTypes.TOPIC,
          name: topic,
          configEntries: [{ name: 'retention.ms', value: '1000' }],
        },
      ],
    });
    // The controller has it first, the broker that is asked a moment later.
    await eventually(async () => (await retention()) === '1000');
    const repeated = await createTopics(brokers, { ...options, partitionsMax: 3 });
    await eventually(async () => (await retention()) === '2592000000');
    await admin.disconnect();
    expect(repeated.created).toEqual([]);
    expect(repeated.otherPartitions).toContain(topic);
  });
});
