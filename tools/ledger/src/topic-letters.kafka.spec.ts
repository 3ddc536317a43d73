import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deadLetterTopic, TOPIC, type AuditEntry } from '@gateway/contracts';
import { deadLetter, kafkaClient, KafkaEventLog } from '@gateway/event-log';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually, testKafka, type TestKafka } from '@gateway/testing';
import { runCommand } from './commands.js';
import { TopicLetters } from './topic-letters.js';

const [clock, random] = [new SystemClock(), new SystemRandom()];

let kafka: TestKafka;
let log: KafkaEventLog;
let letters: TopicLetters;
let folder: string;
let lines: string[];

beforeAll(async () => {
  kafka = await testKafka();
  await kafka.createTopics(Object.values(TOPIC).flatMap((topic) => [topic, deadLetterTopic(topic)]));
  const options = { brokers: kafka.brokers, clientId: 'letters' };
  log = new KafkaEventLog({ ...options, clock, random });
  letters = new TopicLetters({ kafka: kafkaClient(options), log, clock, prefix: kafka.prefix });
  folder = mkdtempSync(join(tmpdir(), 'letters-'));
});
beforeEach(() => (lines = []));
afterAll(async () => {
  await letters?.close();
  rmSync(folder, { recursive: true, force: true });
});

const ledger = { deadLetters: async () => [] } as unknown as Parameters<typeof runCommand>[1];
const run = (...words: string[]): Promise<number> =>
  runCommand(words, ledger, (line) => lines.push(line), letters);

const ENTRY: AuditEntry = {
  ...{ id: 'aud_1', created_at: '2026-11-29T10:00:00.000Z', org_id: 'org_1', actor_kind: 'session' },
  ...{
    actor_id: 'usr_1',
    ip: '127.0.0.1',
    action: 'channel.created',
    target_type: 'channel',
    target_id: 'ch_1',
  },
  ...{ changed_fields: [], request_id: 'req_1' },
};

function eventOf(data: object): string {
  return JSON.stringify({ specversion: '1.0', type: TOPIC.audit, id: 'e', source: '/usage', data });
}

/** A letter as the transport of a service writes it. */
async function refuse(service: string, offset: string, value: string): Promise<void> {
  const record = { topic: TOPIC.audit, partition: 3, offset, key: 'org_1', value };
  const letter = { data: deadLetter({ record, reason: 'the field action is odd' }, service) };
  await log.append(kafka.topic(deadLetterTopic(TOPIC.audit)), [
    { key: 'org_1', value: JSON.stringify(letter) },
  ]);
}

describe('dead letters of services other than the ledger', () => {
  it('operations 3: are listed with their service, and sent to their topic again as they were or as a file corrects them', async () => {
    await refuse('keys', '7', eventOf({ ...ENTRY, action: 1 }));
    await refuse('keys', '8', eventOf(ENTRY));
    await refuse('usage', '9', eventOf(ENTRY));
    await log.append(kafka.topic(deadLetterTopic(TOPIC.audit)), [{ key: '', value: 'by hand' }]);
    expect(await run('dead-letters')).toBe(0);
    const sameMinute = lines.map((line) => line.replace(/\d{4}-\S+Z/, 'at')).toSorted();
    expect(sameMinute).toEqual([
      'keys:gateway.audit.v1:3:7  at  org_1  the field action is odd',
      'keys:gateway.audit.v1:3:8  at  org_1  the field action is odd',
    ]);

    const corrected = eventOf({ ...ENTRY, id: 'aud_2' });
    writeFileSync(join(folder, 'corrected.json'), corrected);
    const apply = ['apply', 'keys:gateway.audit.v1:3:7'];
    await expect(run(...apply)).rejects.toThrow('It cannot be applied: the field action');
    expect(await run(...apply, '--value', join(folder, 'corrected.json'))).toBe(0);
    expect(await run('apply', 'keys:gateway.audit.v1:3:8')).toBe(0);
    expect(lines.at(-1)).toBe('sent to gateway.audit.v1 again');
    const seen: [string, string][] = [];
    const consumer = await log.consume({
      ...{ topics: [kafka.topic(TOPIC.audit)], group: kafka.topic('keys'), maxBatch: 10, lingerMs: 0 },
      handler: async (batch) =>
        void seen.push(...batch.map(({ key, value }): [string, string] => [key, value])),
    });
    await eventually(() => seen.length === 2, { timeoutMs: 60_000 });
    expect(seen).toEqual([
      ['org_1', corrected],
      ['org_1', eventOf(ENTRY)],
    ]);
    await consumer.stop();
  });

  it('refuse one that is unknown, one of another topic, and one whose letter has not all of the record', async () => {
    await refuse('keys', '10', eventOf({ ...ENTRY, extra: 'x'.repeat(200_000) }));
    for (const id of ['keys:gateway.audit.v1:3:99', 'keys:gateway.other.v1:0:1', 'keys::'])
      await expect(run('apply', id)).rejects.toThrow(`There is no dead letter ${id}.`);
    await expect(run('apply', 'keys:gateway.audit.v1:3:10')).rejects.toThrow('give all of it by --value');
    await expect(runCommand(['apply', 'keys:a:1:1'], ledger, () => undefined)).rejects.toThrow(
      'KAFKA_BROKERS',
    );
  });
});
