import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { parse } from 'yaml';
import { repositoryRoot } from './repository.js';

// A CommonJS package whose names Node cannot all see.
const { ConfigResourceTypes, Kafka, logLevel } = kafkajs;

const LEADER_TRIES = 200;

/** One topic as it should be. Values of `config` are Kafka's own settings, as text. */
export interface TopicPlan {
  name: string;
  partitions: number;
  replication: number;
  config: Record<string, string>;
}

export interface CreateTopicsOptions {
  /** Prefix of each name, so that test files that share a broker do not meet. */
  prefix?: string;
  /** Replaces the replication of topics.yaml: 1 on a single broker. */
  replication?: number;
  /** Upper bound on the partitions of a topic: a test broker starts quicker with few. */
  partitionsMax?: number;
}

export interface TopicsReport {
  created: string[];
  /** Existing topics, whose settings were written again. */
  kept: string[];
  /** Existing topics with another number of partitions than declared, which is never changed here. */
  otherPartitions: string[];
}

/**
 * Creates the topics of deploy/kafka/topics.yaml with their dead-letter topics and writes the settings of those that
 * exist. Safe to repeat and to run from two places at once.
 */
export async function applyTopics(
  kafka: Pick<kafkajs.Kafka, 'admin'>,
  options: CreateTopicsOptions,
): Promise<TopicsReport> {
  const plans = plannedTopics(
    readFileSync(join(repositoryRoot, 'deploy/kafka/topics.yaml'), 'utf8'),
    options,
  );
  const admin = kafka.admin({ retry: { retries: 8, initialRetryTime: 100, maxRetryTime: 2_000 } });
  await admin.connect();
  try {
    return await apply(admin, plans);
  } finally {
    await admin.disconnect();
  }
}

/** The same on brokers that ask for neither TLS nor credentials: those of tests. */
export function createTopics(brokers: string[], options: CreateTopicsOptions = {}): Promise<TopicsReport> {
  const quiet = { clientId: 'kafka-topics', logLevel: logLevel.NOTHING, requestTimeout: 10_000 };
  return applyTopics(new Kafka({ brokers, ...quiet }), options);
}

/** The declared topics and a `.dlq` for each, with the defaults filled in. @throws Error naming the faulty member. */
export function plannedTopics(yaml: string, options: CreateTopicsOptions = {}): TopicPlan[] {
  const file = member(parse(yaml), 'topics.yaml');
  const defaults = member(file['defaults'], 'defaults');
  const deadLetter = member(file['deadLetter'], 'deadLetter');
  const replication = options.replication ?? wholeNumber(defaults['replication'], 'defaults.replication');
  if (!Array.isArray(file['topics'])) throw new Error('topics.yaml: topics must be a list.');

  const shared = settings(defaults['config'], 'defaults.config');
  // One broker cannot confirm what it does not hold twice.
  if (replication === 1) shared['min.insync.replicas'] = '1';
  const plan = (name: string, source: Record<string, unknown>): TopicPlan => ({
    name: (options.prefix ?? '') + name,
    partitions: Math.min(
      wholeNumber(source['partitions'], `${name}.partitions`),
      options.partitionsMax ?? Infinity,
    ),
    replication,
    config: { ...shared, ...settings(source['config'], `${name}.config`) },
  });
  return file['topics'].flatMap((entry: unknown) => {
    const topic = member(entry, 'topics[]');
    const name = topic['name'];
    if (typeof name !== 'string' || name === '') throw new Error('topics.yaml: every topic needs a name.');
    return [plan(name, topic), plan(`${name}.dlq`, deadLetter)];
  });
}

async function apply(admin: Admin, plans: TopicPlan[]): Promise<TopicsReport> {
  const existing = new Set(await admin.listTopics());
  const missing = plans.filter((plan) => !existing.has(plan.name));
  const present = plans.filter((plan) => existing.has(plan.name));
  if (missing.length > 0) {
    // Answers false, and throws nothing, when another run created them in the same moment.
    await admin.createTopics({
      waitForLeaders: false,
      timeout: 30_000,
      topics: missing.map((plan) => ({
        topic: plan.name,
        numPartitions: plan.partitions,
        replicationFactor: plan.replication,
        configEntries: Object.entries(plan.config).map(([name, value]) => ({ name, value })),
      })),
    });
  }
  await untilLed(admin, missing);
  if (present.length === 0)
    return { created: missing.map((plan) => plan.name), kept: [], otherPartitions: [] };

  await admin.alterConfigs({
    validateOnly: false,
    resources: present.map((plan) => ({
      type: ConfigResourceTypes.TOPIC,
      name: plan.name,
      configEntries: Object.entries(plan.config).map(([name, value]) => ({ name, value })),
    })),
  });
  const { topics } = await admin.fetchTopicMetadata({ topics: present.map((plan) => plan.name) });
  const partitions = new Map(topics.map((topic) => [topic.name, topic.partitions.length]));
  return {
    created: missing.map((plan) => plan.name),
    kept: present.map((plan) => plan.name),
    otherPartitions: present
      .filter((plan) => partitions.get(plan.name) !== plan.partitions)
      .map((plan) => plan.name),
  };
}

/**
 * Waits until a leader of each partition answers: metadata name one that refuses records for a moment yet. The client's own
 * wait fails when the broker does not know a topic yet that another run creates just now.
 */
export async function untilLed(admin: Admin, plans: TopicPlan[]): Promise<void> {
  const names = plans.map((plan) => plan.name);
  for (let attempt = 1; ; attempt += 1) {
    try {
      for (const name of names) await admin.fetchTopicOffsets(name);
      return;
    } catch (cause) {
      if (attempt >= LEADER_TRIES)
        throw new Error(`No broker leads some of the topics ${names.join(', ')}.`, { cause });
    }
    await pause(100);
  }
}

function member(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`topics.yaml: ${where} must be a mapping.`);
  }
  return Object.fromEntries(Object.entries(value));
}

function settings(value: unknown, where: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(member(value, where)).map(([name, setting]) => [name, String(setting)]),
  );
}

function wholeNumber(value: unknown, where: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
    throw new Error(`topics.yaml: ${where} must be a whole number above 0.`);
  }
  return value;
}
