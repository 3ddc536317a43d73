import { randomBytes } from 'node:crypto';
import { kafkaClient } from '@gateway/event-log';
import type kafkajs from 'kafkajs';
import { eventually } from './eventually.js';
import { askGuard, textOf } from './guard-client.js';
import { ownServer } from './own-server.js';
import type { OwnServer } from './own-server.js';

export interface TestKafka {
  brokers: string[];
  /** Prefix of every topic and group of this test file, so that files that share the broker do not meet. */
  prefix: string;
  /** The name with the prefix. */
  topic(name: string): string;
  /** Creates topics under the prefix; resolves when they can be written to. Default one partition. */
  createTopics(names: string[], partitions?: number): Promise<void>;
  /**
   * The topics of deploy/kafka/topics.yaml and their dead-letter topics, at most four partitions each; under the prefix
   * unless set otherwise, which is for a broker of one's own.
   */
  createFleetTopics(options?: { isPrefixed: boolean }): Promise<void>;
  /** Waits until each of these groups, named in full, has members and has given them their partitions. */
  untilJoined(groups: string[]): Promise<void>;
}

export type OwnKafka = TestKafka & { server: OwnServer };

/** The broker that this run shares; gateway.* of topics.yaml exist on it without a prefix, too. */
export async function testKafka(): Promise<TestKafka> {
  return harness(textOf(await askGuard('/shared', { kind: 'kafka' }), 'address'));
}

/** A broker of the test's own, to kill, freeze and restart: its log survives, as on a disk. */
export async function ownKafka(): Promise<OwnKafka> {
  const server = await ownServer('kafka');
  return { ...harness(server.address), server };
}

function harness(address: string): TestKafka {
  const brokers = address.split(',');
  const prefix = `test-${randomBytes(6).toString('hex')}.`;
  const asAdmin = async (act: (admin: kafkajs.Admin) => Promise<unknown>): Promise<void> => {
    const admin = kafkaClient({ brokers, clientId: 'test-harness' }).admin();
    await admin.connect();
    try {
      await act(admin);
    } finally {
      await admin.disconnect();
    }
  };
  return {
    brokers,
    prefix,
    topic: (name) => prefix + name,
    createTopics: (names, partitions = 1) =>
      asAdmin(async (admin) => {
        const topics = names.map((name) => ({
          topic: prefix + name,
          numPartitions: partitions,
          replicationFactor: 1,
        }));
        await admin.createTopics({ topics, waitForLeaders: false });
        // Its leader itself has to answer: metadata name one that refuses records for a moment yet.
        await eventually(async () => {
          for (const { topic } of topics) await admin.fetchTopicOffsets(topic);
          return true;
        });
      }),
    untilJoined: (groups) =>
      asAdmin((admin) =>
        eventually(
          async () => {
            const described = await admin.describeGroups(groups);
            return described.groups.every(({ state, members }) => state === 'Stable' && members.length > 0);
          },
          { timeoutMs: 60_000 },
        ),
      ),
    createFleetTopics: async ({ isPrefixed } = { isPrefixed: true }) => {
      await askGuard('/topics', { brokers: address, prefix: isPrefixed ? prefix : '' });
    },
  };
}
