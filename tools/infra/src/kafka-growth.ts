import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { plannedTopics, untilLed, type CreateTopicsOptions, type TopicPlan } from './kafka-topics.js';
import { repositoryRoot } from './repository.js';

const { ConfigResourceTypes } = kafkajs;

/** Interval of looks at what is left to read, and looks in a row that must find nothing. */
const LOOK_MS = 1_000;
const LOOKS = 3;

export interface Growth {
  topic: string;
  partitions: number;
  /** Longest time in which the consumers have to read what is there. */
  drainMs: number;
  /** Time from the new partitions to the first record, above the age at which producers and consumers ask for metadata again. */
  holdMs: number;
  /** Groups that are not waited for: those of readers that are gone. */
  ignored: readonly string[];
}

/**
 * Gives a topic more partitions and keeps the order of each account, which goes to another partition by it. The topic
 * takes no record meanwhile, because a batch of one byte is its largest: producers keep theirs and try again. The
 * partitions are made once all groups have read what is there. The topic opens when nobody can think any more that they
 * are fewer.
 */
export async function growTopic(
  kafka: Pick<kafkajs.Kafka, 'admin'>,
  growth: Growth,
  { say, ...options }: CreateTopicsOptions & { say: (line: string) => void },
): Promise<void> {
  const plan = planOf(growth.topic, options);
  const admin = kafka.admin({ retry: { retries: 8, initialRetryTime: 100, maxRetryTime: 2_000 } });
  await admin.connect();
  try {
    const before = await partitionsOf(admin, plan.name);
    if (before > growth.partitions)
      throw new Error(`${plan.name} has ${before} partitions: Kafka takes none away.`);
    say(`${plan.name} takes no records from now on; producers keep theirs`);
    try {
      await configure(admin, plan, { 'max.message.bytes': '1' });
      await untilRead(admin, plan.name, growth);
      const topicPartitions = [{ topic: plan.name, count: growth.partitions }];
      if (before < growth.partitions) await admin.createPartitions({ topicPartitions });
      await untilLed(admin, [plan]);
      say(`${plan.name} has ${growth.partitions} partitions and opens in ${growth.holdMs / 1_000} s`);
      await pause(growth.holdMs);
    } finally {
      await configure(admin, plan, {});
      say(`${plan.name} takes records again`);
    }
  } finally {
    await admin.disconnect();
  }
}

function planOf(topic: string, options: CreateTopicsOptions): TopicPlan {
  const yaml = readFileSync(join(repositoryRoot, 'deploy/kafka/topics.yaml'), 'utf8');
  const name = (options.prefix ?? '') + topic;
  const plan = plannedTopics(yaml, options).find((planned) => planned.name === name);
  if (plan === undefined) throw new Error(`deploy/kafka/topics.yaml has no topic ${topic}.`);
  return plan;
}

async function partitionsOf(admin: Admin, topic: string): Promise<number> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  return topics[0].partitions.length;
}

/** Writes all declared settings of the topic and these; Kafka drops those that are not named. */
async function configure(admin: Admin, plan: TopicPlan, more: Record<string, string>): Promise<void> {
  const configEntries = Object.entries({ ...plan.config, ...more }).map(([name, value]) => ({ name, value }));
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: plan.name, configEntries }],
  });
}

/** Resolves when nothing comes and no group has anything left in several looks. Throws where that takes too long. */
async function untilRead(admin: Admin, topic: string, { drainMs, ignored }: Growth): Promise<void> {
  let ends = '';
  let quiet = 0;
  for (let left = Math.ceil(drainMs / LOOK_MS); ; left -= 1) {
    const offsets = await admin.fetchTopicOffsets(topic);
    const now = JSON.stringify(offsets.map(({ partition, high }) => [partition, high]));
    const behind = await groupsBehind(admin, topic, ignored);
    quiet = now === ends && behind.length === 0 ? quiet + 1 : 0;
    if (quiet >= LOOKS) return;
    ends = now;
    if (left <= 0)
      throw new Error(
        `${topic} was not read to its end in time; behind are: ${behind.join(', ') || 'none'}.`,
      );
    await pause(LOOK_MS);
  }
}

/** Returns the groups that have read of the topic, and not all of it. */
async function groupsBehind(admin: Admin, topic: string, ignored: readonly string[]): Promise<string[]> {
  const ends = new Map(
    (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => [
      partition,
      { low: BigInt(low), high: BigInt(high) },
    ]),
  );
  const behind: string[] = [];
  const { groups } = await admin.listGroups();
  for (const { groupId } of groups) {
    if (ignored.includes(groupId)) continue;
    const [read] = await admin.fetchOffsets({ groupId, topics: [topic] });
    // -1: nothing of the partition was read yet.
    const isReader = read.partitions.some(({ offset }) => offset !== '-1');
    const isBehind = read.partitions.some(({ partition, offset }) => {
      const end = ends.get(partition);
      if (end === undefined) return false;
      return (offset === '-1' ? end.low : BigInt(offset)) < end.high;
    });
    if (isReader && isBehind) behind.push(groupId);
  }
  return behind;
}
