import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compactEnd, compactFacts, wholeUsage, type LogRecord, type UsageRecordV2 } from '@gateway/contracts';
import { readSegment } from './frame.js';
import {
  abandon,
  crashRecord,
  eventsInto,
  intentFor,
  openJournal,
  seededRandom,
  TestLedger,
  usage,
  withFolder,
  type Bench,
} from './journal.fixture.js';
import { parseFrame, recordJson, type CrashRecord, type Intent, type UsageRest } from './records.js';
import { Shipper } from './shipper.js';
import type { UsageTopicVersion } from './usage-format.js';

/** The record that ends a unit, as its edge makes it. */
const restOf = (n: number): UsageRest => {
  const facts = compactFacts(usage(n));
  const rest = Object.entries(usage(n)).filter(([name]) => !(name in facts));
  return Object.fromEntries(rest) as unknown as UsageRest;
};

async function finished(bench: Bench, ns: readonly number[]): Promise<void> {
  for (const n of ns) {
    bench.journal.intent(intentFor(n));
    bench.journal.finish(`req_${n}/0`, 'acct_1', restOf(n), null);
  }
  await bench.journal.synced();
}

/** Ships everything; returns what the log has by topic and unit. */
async function shipped(bench: Bench, count: number): Promise<{ topic: string; value: string }[]> {
  const ledger = new TestLedger();
  const found: { topic: string; value: string }[] = [];
  const append = (topic: string, records: LogRecord[]): Promise<void> => {
    for (const { value } of records) found.push({ topic, value });
    return ledger.append(topic, records);
  };
  const shipper = new Shipper({
    ...{ append, watermark: ledger.watermark, clock: bench.clock, random: seededRandom(5) },
    events: eventsInto(() => bench.journal, bench.alarms),
  });
  bench.journal.follow(shipper);
  shipper.start();
  await bench.clock.until(() => found.length >= count, 1_000);
  await shipper.stop();
  return found;
}

const unitIn = (value: string): CrashRecord & { producer: string } => {
  const { data } = JSON.parse(value) as { data: UsageRecordV2 };
  return wholeUsage(data);
};

describe('the two formats of usage records in a journal', () => {
  it.each<[UsageTopicVersion, UsageTopicVersion]>([
    [1, 2],
    [2, 1],
  ])(
    'ships what a journal of version %i has left behind beside its own of version %i, each on its topic',
    (before, now) =>
      withFolder(async (dir) => {
        const dead = await openJournal(dir, { usageTopicVersion: before });
        await finished(dead, [1, 2]);
        dead.journal.intent(intentFor(3));
        await abandon(dead.journal);
        const bench = await openJournal(dir, { usageTopicVersion: now });
        const opened: Intent[] = [];
        await bench.journal.recover((intent) => {
          opened.push(intent);
          return crashRecord(intent);
        });
        // The facts are whole, whichever way they were written.
        expect(opened).toMatchObject([
          JSON.parse(JSON.stringify({ ...intentFor(3), facts: compactFacts(usage(3)) })),
        ]);
        expect(opened[0].facts).toMatchObject({ unit: 0, org_id: null, stream: false, limits: [] });
        await finished(bench, [4]);
        await bench.journal.outcome('gateway.usage.v1', 'acct_1', usage(5)).synced;
        const found = (await shipped(bench, 5)).map(({ topic, value }) => [topic, unitIn(value)] as const);
        const byUnit = new Map(found.map(([topic, unit]) => [unit.request_id, { topic, unit }]));
        const topics = [1, 2, 3, 4, 5].map((n) => byUnit.get(`req_${n}`)?.topic);
        const [old, own] = [`gateway.usage.v${before}`, `gateway.usage.v${now}`];
        expect(topics).toEqual([old, old, own, own, own]);
        for (const n of [1, 2, 4, 5]) expect(byUnit.get(`req_${n}`)?.unit).toMatchObject(usage(n));
        expect(byUnit.get('req_3')?.unit).toMatchObject({ error_code: 'gateway_crash', cost_usd: null });
        await bench.journal.close();
      }),
  );

  it('writes in v2 what a record has beside its stamps and no text that no ledger can keep', () =>
    withFolder(async (dir) => {
      const { journal } = await openJournal(dir, { usageTopicVersion: 2 });
      const hostile = { ...usage(1), request_tags: { 'a\0': 'cut \ud83d' } };
      await journal.outcome('gateway.usage.v1', 'acct_1', hostile).synced;
      const folder = join(dir, 'edge-0', journal.epoch);
      const values: string[] = [];
      for (const name of readdirSync(folder).filter((one) => one.endsWith('.log')))
        readSegment(readFileSync(join(folder, name)), (json) => {
          const frame = parseFrame(json);
          if (frame.kind === 'outcome') values.push(frame.value);
        });
      const { request_tags, ...compact } = { ...compactFacts(hostile), ...compactEnd(hostile, hostile) };
      expect(request_tags).toBe(hostile.request_tags);
      expect(values.map((value) => JSON.parse(value) as unknown)).toEqual([
        {
          ...(JSON.parse(recordJson(compact)) as object),
          ...{ request_tags: { 'a\ufffd': 'cut \ufffd' }, producer: 'edge-0', epoch: journal.epoch, seq: 1 },
        },
      ]);
      await journal.close();
    }));
});
