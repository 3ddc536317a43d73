import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TOPIC } from '@gateway/contracts';
import { kafkaAccess, KafkaConfig, KafkaEventLog } from '@gateway/event-log';
import { loadConfig, SystemClock } from '@gateway/platform';
import { eventually, securedKafka, seededRandom, type SecuredKafka } from '@gateway/testing';
import { repositoryRoot } from './repository.js';

let kafka: SecuredKafka;
let folder: string;

beforeAll(async () => {
  kafka = await securedKafka();
  folder = mkdtempSync(join(tmpdir(), 'kafka-token-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await kafka.drop();
});

/** Unsigned, as this broker believes it. */
function tokenFile(subject: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1_000);
  const path = join(folder, 'token');
  writeFileSync(path, `${part({ alg: 'none' })}.${part({ sub: subject, iat: now, exp: now + 3_600 })}.\n`);
  return path;
}

function environment(mechanism: string, hasTls: boolean): Record<string, string> {
  return {
    KAFKA_BROKERS: hasTls ? kafka.saslSsl : kafka.saslPlaintext,
    ...(hasTls ? { KAFKA_TLS: 'true', KAFKA_TLS_CA: kafka.ca } : {}),
    KAFKA_SASL_MECHANISM: mechanism,
    ...(mechanism === 'oauthbearer'
      ? { KAFKA_SASL_TOKEN_FILE: tokenFile('gateway') }
      : { KAFKA_SASL_USERNAME: kafka.username, KAFKA_SASL_PASSWORD: kafka.password }),
  };
}

/** `npm run kafka:topics` in an environment of its own. */
function createTopics(env: Record<string, string>): Promise<{ stdout: string }> {
  const main = join(repositoryRoot, 'dist/tools/infra/src/kafka-topics-main.js');
  return promisify(execFile)(process.execPath, [main, '--replication', '1'], {
    env: { PATH: process.env['PATH'], ...env },
    timeout: 60_000,
  });
}

/** One try, as the outbox and the shipper repeat theirs. */
async function append(env: Record<string, string>): Promise<void> {
  const log = new KafkaEventLog({
    ...kafkaAccess(loadConfig(KafkaConfig, env)),
    ...{ clientId: 'spec', clock: new SystemClock(), random: seededRandom(1) },
  });
  try {
    await log.append(TOPIC.usage, [{ key: 'k', value: '{}' }]);
  } finally {
    await log.close();
  }
}

/** The broker elects the leaders of new topics on its own time, and on a busy machine a try may time out. */
function appended(env: Record<string, string>): Promise<boolean> {
  return eventually(() => append(env).then(() => true), { timeoutMs: 60_000 });
}

/** A try that timed out on a busy machine says nothing of why the broker, or the client, refuses. */
function refused(env: Record<string, string>, why: RegExp): Promise<boolean> {
  return eventually(
    async () => {
      await expect(append(env)).rejects.toThrow(why);
      return true;
    },
    { timeoutMs: 60_000 },
  );
}

describe('a Kafka with TLS and SASL', () => {
  it('gets its topics, and records by every mechanism with and without TLS', async () => {
    const { stdout } = await createTopics(environment('scram-sha-512', true));
    expect(JSON.parse(stdout)).toMatchObject({ created: expect.arrayContaining([TOPIC.usage]) as unknown });
    for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'])
      for (const hasTls of [true, false]) await appended(environment(mechanism, hasTls));
  });

  it('is refused a wrong password, and refuses a broker of an unknown authority', async () => {
    const wrong = { ...environment('plain', true), KAFKA_SASL_PASSWORD: 'wrong' };
    await refused(wrong, /Authentication failed/i);
    const unknown = { ...environment('plain', true), KAFKA_TLS_CA: '' };
    await refused(unknown, /certificate/i);
  });

  it('says what is wrong with the variables of kafka:topics', async () => {
    const env = { ...environment('plain', true), KAFKA_SASL_PASSWORD: '', KAFKA_TLS_CA: 'none' };
    await expect(createTopics(env)).rejects.toThrow(
      /2 fault\(s\)[\s\S]*KAFKA_TLS_CA[\s\S]*KAFKA_SASL_PASSWORD/,
    );
  });
});
