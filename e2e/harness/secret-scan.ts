import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaClient } from '@gateway/event-log';
import { entriesOf, eventually, rowsOf, type FleetApp } from '@gateway/testing';
import type { Fleet } from './fleet.js';

/** The names of secrets by the place of the fleet that holds them; all is looked at, whatever it is for. */
export type Found = Record<string, string[]>;

/**
 * Looks for secrets, as they are and in base64 and hex, in all that a fleet keeps and sends: its processes' output, every
 * row of PostgreSQL, every key of Redis, every record of Kafka, the journals, and `sent` to callers.
 */
export async function scanForSecrets(
  fleet: Fleet,
  secrets: Readonly<Record<string, string>>,
  sent: readonly string[] = [],
): Promise<Found> {
  const found: Found = {};
  const named = namesIn(secrets);
  const look = (place: string, text: string): void => {
    for (const name of named(text)) {
      const names = (found[place] ??= []);
      if (!names.includes(name)) names.push(name);
    }
  };
  for (const text of sent) look('answers', text);
  for (const [name, text] of Object.entries(fleet.outputs()))
    look(`log of ${name}`, text.replace(FIRST_LOGIN, ''));
  for await (const { table, text } of rowsOf(fleet.databaseUrl)) look(`table ${table}`, text);
  for await (const entry of entriesOf(fleet.redisUrl)) look('redis', entry);
  await lookInKafka(fleet.kafka.brokers, look);
  lookInFolder(fleet.journalFolder, look);
  return found;
}

/**
 * Looks in the strings that live in processes of services. Their Node runs with `--heapsnapshot-signal=SIGUSR2` and this
 * folder as `--diagnostic-dir`.
 */
export async function scanHeaps(
  fleet: Fleet,
  folder: string,
  apps: readonly FleetApp[],
  secrets: Readonly<Record<string, string>>,
): Promise<Found> {
  const named = namesIn(secrets);
  const found: Found = {};
  for (const app of apps) {
    process.kill(fleet.process(app).pid ?? NaN, 'SIGUSR2');
    // One at a time: each is some 100 MB, and ends with a bracket once it is whole.
    const path = await eventually(
      () => {
        const [file] = readdirSync(folder);
        const isWhole =
          file !== undefined && readFileSync(join(folder, file), 'latin1').trimEnd().endsWith(']}');
        return isWhole ? join(folder, file) : null;
      },
      { timeoutMs: 60_000, intervalMs: 500 },
    );
    found[app] = named(readFileSync(path, 'latin1'));
    rmSync(path);
  }
  return found;
}

/** Returns what names the secrets that a text holds. */
function namesIn(secrets: Readonly<Record<string, string>>): (text: string) => string[] {
  const forms = Object.entries(secrets).map(([name, secret]) => [name, formsOf(secret)] as const);
  return (text) =>
    forms.filter(([, written]) => written.some((form) => text.includes(form))).map(([name]) => name);
}

type Look = (place: string, text: string) => void;

/** The one line that prints a secret, once, to the operator who starts a fleet for the first time. */
const FIRST_LOGIN = /^\{"first_login":.*\}$/m;

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString('hex'),
    bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64'),
  ];
}

async function lookInKafka(brokers: string[], look: Look): Promise<void> {
  const kafka = kafkaClient({ brokers, clientId: 'secret-scan' });
  const admin = kafka.admin();
  const consumer = kafka.consumer({ groupId: 'secret-scan' });
  await Promise.all([admin.connect(), consumer.connect()]);
  try {
    const topics = (await admin.listTopics()).filter((topic) => !topic.startsWith('__'));
    let left = 0;
    for (const topic of topics)
      for (const { low, high } of await admin.fetchTopicOffsets(topic)) left += Number(high) - Number(low);
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ topic, message }) => {
        look(
          `topic ${topic}`,
          JSON.stringify([message.key?.toString(), message.value?.toString(), message.headers]),
        );
        left -= 1;
      },
    });
    await eventually(() => left <= 0, { timeoutMs: 60_000 });
  } finally {
    await Promise.all([admin.disconnect(), consumer.disconnect()]);
  }
}

function lookInFolder(folder: string, look: Look): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) look('journal', readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  }
}
