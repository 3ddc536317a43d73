import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import type { LogRecord } from '@gateway/contracts';
import {
  abandon,
  type Bench,
  crashRecord,
  eventsInto,
  openJournal,
  rejection,
  seededRandom,
  TestLedger,
  usage,
  withFolder,
} from './journal.fixture.js';
import type { JournalOptions } from './journal-options.js';
import { serveShipper, ShipperThread } from './shipper-thread.js';
import { Shipper, type ShipperOptions } from './shipper.js';

const USAGE = 'gateway.usage.v1';

function shipperFor(bench: Bench, ledger: TestLedger, options: Partial<ShipperOptions> = {}): Shipper {
  const { append, watermark } = ledger;
  const events = eventsInto(() => bench.journal, bench.alarms);
  const shipper = new Shipper({
    append,
    watermark,
    clock: bench.clock,
    random: seededRandom(5),
    events,
    ...options,
  });
  bench.journal.follow(shipper);
  shipper.start();
  return shipper;
}

function write({ journal }: Bench, count: number): void {
  for (let n = 1; n <= count; n += 1) {
    if (n % 4 === 0) journal.outcome('gateway.rejections.v1', 'acct_1', rejection(n));
    else journal.outcome(USAGE, `acct_${n % 3}`, usage(n));
    if (n % 50 === 0) journal.flush();
  }
  journal.flush();
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

async function scene(
  use: (bench: Bench, ledger: TestLedger) => Promise<void>,
  options: Pick<Partial<JournalOptions>, 'segmentBytes' | 'ack' | 'ackMs'> = {},
): Promise<void> {
  await withFolder(async (dir) => {
    const bench = await openJournal(dir, options);
    await use(bench, new TestLedger());
    await bench.journal.close();
  });
}

describe('the shipper', () => {
  it('ships CloudEvents keyed by account, each topic in the order of its numbers', () =>
    scene(async (bench, ledger) => {
      const values: string[] = [];
      const append = (topic: string, records: LogRecord[]) => {
        values.push(...records.map((record) => record.value));
        return ledger.append(topic, records);
      };
      const shipper = shipperFor(bench, ledger, { append });
      write(bench, 100);
      await bench.clock.until(() => ledger.landed.length === 100);
      for (const topic of [USAGE, 'gateway.rejections.v1']) {
        const seqs = ledger.landed.filter((record) => record.topic === topic).map((record) => record.seq);
        expect(seqs).toEqual(seqs.toSorted((left, right) => left - right));
      }
      expect(
        ledger
          .unique()
          .map((record) => record.seq)
          .sort((left, right) => left - right),
      ).toEqual(numbers(100));
      expect(ledger.landed.every((record) => /^acct_[0-2]$/.test(record.key))).toBe(true);
      expect(JSON.parse(values[0])).toEqual({
        specversion: '1.0',
        id: `${bench.journal.epoch}-1`,
        source: '/edge/edge-0',
        type: USAGE,
        time: '2026-09-21T14:13:20.000Z',
        datacontenttype: 'application/json',
        data: { ...usage(1), producer: 'edge-0', epoch: bench.journal.epoch, seq: 1 },
      });
      await shipper.stop();
    }));

  it('ships the trace context of whoever finished a unit as a header, and none of a rejection', () =>
    withFolder(async (dir) => {
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const contexts = [undefined, traceparent];
      const bench = await openJournal(dir, { traceparent: () => contexts.pop() });
      const ledger = new TestLedger();
      const shipped: LogRecord[] = [];
      const append = (topic: string, records: LogRecord[]) => {
        shipped.push(...records);
        return ledger.append(topic, records);
      };
      const shipper = shipperFor(bench, ledger, { append });
      bench.journal.outcome('gateway.rejections.v1', 'acct_1', rejection(1));
      bench.journal.outcome(USAGE, 'acct_1', usage(2));
      bench.journal.outcome(USAGE, 'acct_1', usage(3));
      bench.journal.flush();
      await bench.clock.until(() => ledger.landed.length === 3);
      const headers = shipped.map(({ value, headers: found }) => [
        (JSON.parse(value) as { data: { seq: number } }).data.seq,
        found,
      ]);
      expect(Object.fromEntries(headers)).toEqual({ 1: undefined, 2: { traceparent }, 3: undefined });
      await shipper.stop();
      await bench.journal.close();
    }));

  it('ships nothing that is not synced', () =>
    withFolder(async (dir) => {
      let letSync: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        letSync = resolve;
      });
      const { nodeDisk } = await import('./disk.js');
      const bench = await openJournal(dir, { disk: { ...nodeDisk, sync: () => gate } });
      const ledger = new TestLedger();
      const shipper = shipperFor(bench, ledger);
      write(bench, 10);
      for (let turns = 0; turns < 50; turns += 1)
        await bench.clock.until(() => true, 0).then(() => bench.clock.advance(100));
      expect(ledger.landed).toEqual([]);
      letSync();
      await bench.clock.until(() => ledger.landed.length === 10);
      await shipper.stop();
      await bench.journal.close();
    }));

  it('B04 an event log away for an hour costs no record and a dozen alarms', () =>
    scene(async (bench, ledger) => {
      ledger.refuse = () => bench.clock.monotonic() < 3_600_000;
      const shipper = shipperFor(bench, ledger);
      write(bench, 1_200);
      // The disk takes real time: the hour must not be over before it has the records.
      await bench.clock.until(() => bench.alarms.length > 0, 20);
      await bench.clock.until(() => ledger.landed.length >= 1_200, 2_000);
      expect(ledger.landed.map((record) => record.seq).sort((left, right) => left - right)).toEqual(
        numbers(1_200),
      );
      const failures = bench.alarms.filter((alarm) => alarm.kind === 'append_failed');
      expect(failures.length).toBeGreaterThan(5);
      expect(failures.length).toBeLessThan(20);
      await shipper.stop();
    }));

  it('B05 a tail that was acknowledged and lost is found and shipped again', () =>
    scene(async (bench, ledger) => {
      const shipper = shipperFor(bench, ledger);
      write(bench, 40);
      await bench.clock.until(() => shipper.stats().unapplied === 0 && ledger.landed.length === 40, 100);
      ledger.copies = () => 0;
      write(bench, 60);
      await bench.clock.until(() => shipper.stats().sources[0].shipped === 100);
      ledger.copies = () => 1;
      await bench.clock.until(() => ledger.unique().length === 100, 500);
      expect(bench.alarms).toContainEqual(
        expect.objectContaining({ kind: 'watermark_stalled', watermark: 40, shipped: 100 }),
      );
      await bench.clock.until(() => shipper.stats().unapplied === 0, 500);
      await shipper.stop();
    }));

  it('B06 a log that acknowledges and drops 1 % is found within 60 s and every record arrives', () =>
    scene(async (bench, ledger) => {
      const random = seededRandom(11);
      ledger.copies = () => (random.fraction() < 0.01 ? 0 : 1);
      const shipper = shipperFor(bench, ledger);
      write(bench, 2_000);
      await bench.clock.until(() => shipper.stats().sources[0].shipped === 2_000);
      const shippedAt = bench.clock.monotonic();
      await bench.clock.until(() => shipper.stats().reshipments > 0, 500);
      expect(bench.clock.monotonic() - shippedAt).toBeLessThan(60_000);
      await bench.clock.until(() => shipper.stats().unapplied === 0 && ledger.unique().length === 2_000, 500);
      expect(shipper.stats().reshipments).toBeLessThan(10);
      await shipper.stop();
    }));

  it('B09 names a number that is in no frame once, however often what stands around it is shipped', () =>
    withFolder(async (dir) => {
      const bench = await openJournal(dir);
      const ledger = new TestLedger();
      for (let n = 1; n <= 6; n += 1) bench.journal.outcome(USAGE, 'a', usage(n));
      await bench.clock.until(() => bench.journal.flush() && bench.journal.stats().syncedSeq === 6, 10);
      const path = join(dir, 'edge-0', bench.journal.epoch, '00000001.log');
      const bytes = readFileSync(path);
      bytes[bytes.indexOf('req_4', bytes.indexOf('"outcome":{"seq":4'))] ^= 1;
      writeFileSync(path, bytes);
      let losses = 1;
      ledger.copies = ({ value }) => (value.includes('"seq":2}') && losses-- > 0 ? 0 : 1);
      const shipper = shipperFor(bench, ledger);
      await bench.clock.until(() => shipper.stats().sources[0].watermark === 3, 500);
      expect(shipper.stats().reshipments).toBe(1);
      expect(bench.alarms.filter(({ kind }) => kind === 'sequence_gap')).toEqual([
        expect.objectContaining({ from: 4, to: 4 }),
      ]);
      await shipper.stop();
      await bench.journal.close();
    }));

  it('B07 a log that duplicates is no reason to ship again', () =>
    scene(async (bench, ledger) => {
      ledger.copies = () => 3;
      const shipper = shipperFor(bench, ledger);
      write(bench, 100);
      await bench.clock.until(() => shipper.stats().sources[0].watermark === 100, 500);
      expect(shipper.stats()).toMatchObject({ reshipments: 0, records: 100, backlog: 0, lagMs: 0 });
      await shipper.stop();
    }));

  it('a ledger that is slow or away is not flooded: the wait doubles, and an idle hour is no stall', () =>
    scene(async (bench, ledger) => {
      let isStuck = false;
      const watermark = async (producer: string, epoch: string) =>
        isStuck ? 10 : ledger.watermark(producer, epoch);
      const shipper = shipperFor(bench, ledger, { watermark });
      write(bench, 10);
      await bench.clock.until(() => shipper.stats().sources[0].watermark === 10, 500);
      bench.clock.advance(3_600_000);
      isStuck = true;
      write(bench, 10);
      await bench.clock.until(() => shipper.stats().sources[0].shipped === 20);
      const from = bench.clock.monotonic();
      await bench.clock.until(() => bench.clock.monotonic() - from > 50_000, 1_000);
      expect(shipper.stats().reshipments).toBe(0);
      await bench.clock.until(() => bench.clock.monotonic() - from > 1_800_000, 1_000);
      expect(shipper.stats().reshipments).toBeGreaterThanOrEqual(4);
      expect(shipper.stats().reshipments).toBeLessThanOrEqual(7);
      isStuck = false;
      await bench.clock.until(() => shipper.stats().unapplied === 0, 1_000);
      await shipper.stop();
    }));

  it('deletes a segment only behind the watermark, and every one in the end', () =>
    scene(
      async (bench, ledger) => {
        let ceiling = 0;
        const watermark = async (producer: string, epoch: string) =>
          Math.min(ceiling, await ledger.watermark(producer, epoch));
        const shipper = shipperFor(bench, ledger, { watermark });
        write(bench, 500);
        await bench.clock.until(() => shipper.stats().sources[0].shipped === 500, 100);
        const before = bench.journal.stats().segments;
        expect(before).toBeGreaterThan(5);
        ceiling = 250;
        await bench.clock.until(
          () => bench.journal.stats().watermark === 250 && bench.journal.stats().segments < before,
          500,
        );
        expect(bench.journal.stats().segments).toBeGreaterThan(2);
        ceiling = 500;
        await bench.clock.until(() => bench.journal.stats().segments === 1, 500);
        await shipper.stop();
      },
      { segmentBytes: 20_000 },
    ));

  it('memory is bounded: no batch above 500 records or 1 MiB', () =>
    scene(async (bench, ledger) => {
      const bytes: number[] = [];
      const append = (topic: string, records: LogRecord[]) => {
        bytes.push(records.reduce((sum, record) => sum + record.value.length, 0));
        return ledger.append(topic, records);
      };
      write(bench, 3_000);
      const fat = { ...usage(1), request_tags: { note: 'x'.repeat(300_000) } };
      for (let n = 0; n < 12; n += 1) bench.journal.outcome(USAGE, 'acct_1', fat);
      const shipper = shipperFor(bench, ledger, { append });
      await bench.clock.until(() => ledger.landed.length === 3_012);
      expect(Math.max(...ledger.sizes)).toBeLessThanOrEqual(500);
      expect(Math.max(...bytes)).toBeLessThanOrEqual(1_100_000);
      await shipper.stop();
    }));

  it('lets nothing go that a reader of an event log in memory has not committed, and a new process ships it again', () =>
    withFolder(async (dir) => {
      const ledger = new TestLedger();
      const dead = await openJournal(dir);
      // Another reader than the ledger stands still, and the process dies.
      const behind = (): Promise<void> => new Promise(() => undefined);
      let asked = 0;
      const watermark = (producer: string, epoch: string): Promise<number> => {
        asked += 1;
        return ledger.watermark(producer, epoch);
      };
      const first = shipperFor(dead, ledger, { kept: behind, watermark });
      write(dead, 30);
      await dead.clock.until(() => ledger.landed.length === 30);
      await dead.clock.until(() => asked > 3, 500);
      expect(dead.journal.stats().watermark).toBe(0);
      await first.stop();
      await abandon(dead.journal);
      const successor = await openJournal(dir);
      let release = (): void => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      const shipper = shipperFor(successor, ledger, { kept: () => gate, watermark });
      await successor.journal.recover(crashRecord);
      await successor.clock.until(() => ledger.landed.length === 60);
      const before = asked;
      await successor.clock.until(() => asked > before + 3, 500);
      expect(successor.journal.stats().takenOverEpochs).toBe(1);
      release();
      await successor.clock.until(() => successor.journal.stats().takenOverEpochs === 0, 500);
      const again = ledger.landed.slice(30).map(({ seq }) => seq);
      expect(again.sort((left, right) => left - right)).toEqual(numbers(30));
      await shipper.stop();
      await successor.journal.close();
    }));

  it('takes over a dead epoch under its own epoch and numbers, from the watermark on', () =>
    withFolder(async (dir) => {
      const ledger = new TestLedger();
      const dead = await openJournal(dir);
      const first = shipperFor(dead, ledger);
      write(dead, 30);
      await dead.clock.until(() => ledger.landed.length === 30);
      await first.stop();
      write(dead, 20);
      await abandon(dead.journal);
      const successor = await openJournal(dir);
      const shipper = shipperFor(successor, ledger);
      await successor.journal.recover(crashRecord);
      write(successor, 5);
      await successor.clock.until(
        () => ledger.landed.length === 55 && successor.journal.stats().takenOverEpochs === 0,
        500,
      );
      const old = ledger.landed.filter((record) => record.epoch === dead.journal.epoch);
      expect(old.map((record) => record.seq).sort((left, right) => left - right)).toEqual(numbers(50));
      expect(shipper.stats().sources).toHaveLength(1);
      await shipper.stop();
      await successor.journal.close();
    }));

  it('drain ships the rest, and reports what is left when the log is away', () =>
    scene(async (bench, ledger) => {
      const shipper = shipperFor(bench, ledger);
      ledger.refuse = () => true;
      write(bench, 20);
      await bench.clock.until(() => bench.journal.stats().syncedSeq === 20);
      let left = -1;
      void shipper.drain(3_000).then((count) => (left = count));
      await bench.clock.until(() => left >= 0, 100);
      expect(left).toBe(20);
      ledger.refuse = () => false;
      left = -1;
      void shipper.drain(60_000).then((count) => (left = count));
      await bench.clock.until(() => left >= 0, 100);
      expect(left).toBe(0);
      await shipper.stop();
    }));

  it('works the same behind a message port', () =>
    scene(
      async (bench, ledger) => {
        const { port1, port2 } = new MessageChannel();
        const { append, watermark } = ledger;
        const served = serveShipper(port2, { append, clock: bench.clock, random: seededRandom(5) });
        let isLedgerUnavailable = true;
        const shipper = new ShipperThread(port1, {
          clock: bench.clock,
          watermark: (producer, epoch) =>
            isLedgerUnavailable ? Promise.reject(new Error('away')) : watermark(producer, epoch),
          events: eventsInto(() => bench.journal, bench.alarms),
        });
        bench.journal.follow(shipper);
        write(bench, 299);
        let isAcked = false;
        const last = bench.journal.outcome(USAGE, 'acct_1', usage(300));
        void bench.journal.commit(last).then(() => (isAcked = true));
        await bench.clock.until(() => isAcked);
        await bench.clock.until(() => shipper.stats().watermarkFailures > 0, 100);
        isLedgerUnavailable = false;
        await bench.clock.until(() => bench.journal.stats().watermark === 300, 100);
        expect(ledger.unique()).toHaveLength(300);
        await bench.clock.until(() => shipper.stats().records === 300, 100);
        let left = -1;
        void shipper.drain(1_000).then((count) => (left = count));
        await bench.clock.until(() => left === 0, 100);
        const stopped = shipper.stop();
        await served;
        await stopped;
        port1.close();
      },
      { ack: 'kafka', ackMs: 50 },
    ));
});
