import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogRecord } from '@gateway/contracts';
import { Journal, Shipper, type ShipperEvents, type ShipperHandle } from '@gateway/journal';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { drainJournal, type DrainedJournal } from './drain-journal.js';

const clock = new SystemClock();
const random = new SystemRandom();

describe('the drain of a stranded journal', () => {
  let dir: string;
  let sent: LogRecord[];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'stranded-'));
    sent = [];
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const ended: string[] = [];
  const funds = {
    heard: async (producer: string, _epoch: string, isEnded: boolean): Promise<void> =>
      void ended.push(`${producer} ${isEnded}`),
  };
  const open = (producer: string): Promise<Journal> =>
    Journal.open({
      dir,
      producer,
      clock,
      random,
      sync: 'group',
      budgetBytes: 1e9,
      onAlarm: () => undefined,
    });
  /** A process that has died: what it wrote is there, and nobody owns the folder. */
  async function strand(producer: string, records: number, openUnits: number): Promise<void> {
    const journal = await open(producer);
    for (let n = 0; n < records; n += 1)
      journal.outcome('gateway.rejections.v1', 'acct_1', { request_id: `req_${producer}_${n}` } as never);
    for (let n = 0; n < openUnits; n += 1)
      journal.intent({
        unit: `req_open_${n}/0`,
        accountId: 'acct_1',
        facts: { request_id: `req_open_${n}`, unit: 0, account_id: 'acct_1' },
      } as never);
    journal.flush();
    await journal.close();
  }
  const drain = (applied: (last: number) => number, waitMs: number): Promise<DrainedJournal> => {
    const startShipper = (events: ShipperEvents): ShipperHandle => {
      const last = new Map<string, number>();
      const shipper = new Shipper({
        append: (_topic, records) => {
          for (const record of records) {
            sent.push(record);
            const { producer, epoch, seq } = placeOf(record);
            last.set(`${producer}/${epoch}`, seq);
          }
          return Promise.resolve();
        },
        watermark: (producer, epoch) => Promise.resolve(applied(last.get(`${producer}/${epoch}`) ?? 0)),
        clock,
        random,
        events,
      });
      shipper.start();
      return shipper;
    };
    const onFault = (error: unknown): void => expect(error).toBeUndefined();
    const onAlarm = (): void => undefined;
    return drainJournal({ dir, funds, clock, random, startShipper, onAlarm, onFault, waitMs });
  };

  it('ships all, closes open units, and leaves no file once the ledger has applied them', async () => {
    await strand('edge-7', 5, 2);
    await strand('edge-8', 3, 0);
    const alive = await open('edge-9');
    expect(await drain((last) => last, 20_000)).toEqual({ epochs: 2, crashed: 2, left: 0 });
    expect(sent).toHaveLength(5 + 3 + 2);
    expect(JSON.stringify(sent)).toContain('gateway_crash');
    expect(ended.toSorted()).toEqual(['edge-7 true', 'edge-8 true']);
    const files = (producer: string): string[] =>
      readdirSync(join(dir, producer), { recursive: true }).map(String);
    for (const producer of ['edge-7', 'edge-8', 'drainer'])
      expect([producer, ...files(producer).filter((name) => name.endsWith('.log'))]).toEqual([producer]);
    expect(files('edge-9').length).toBeGreaterThan(0);
    await alive.close();
  });

  it('says what is left while the ledger has not applied it, keeps the files, and goes on when it runs again', async () => {
    await strand('edge-7', 5, 0);
    const { left } = await drain(() => 0, 300);
    expect(left).toBeGreaterThan(0);
    expect(await drain((last) => last, 20_000)).toMatchObject({ left: 0 });
  });

  it('does not call a folder empty that is not there: its volume would be deleted undrained', async () => {
    rmSync(dir, { recursive: true });
    await expect(drain((last) => last, 20_000)).rejects.toThrow(/is not there/);
    expect(existsSync(dir)).toBe(false);
  });
});

function placeOf({ value }: LogRecord): { producer: string; epoch: string; seq: number } {
  const { data } = JSON.parse(value) as { data: { producer: string; epoch: string; seq: number } };
  return data;
}
