import { existsSync } from 'node:fs';
import type { Clock, Funds, Random } from '@gateway/contracts';
import { Journal, type JournalAlarm, type ShipperEvents, type ShipperHandle } from '@gateway/journal';
import { crashRecord } from './crash-record.js';

const LOOK_EVERY_MS = 100;

export interface DrainJournalOptions {
  /** Root of the stranded journals, as JOURNAL_DIR was. Folders of living processes are left alone. */
  dir: string;
  clock: Clock;
  random: Random;
  funds: Pick<Funds, 'heard'>;
  startShipper: (events: ShipperEvents) => ShipperHandle;
  onAlarm: (alarm: JournalAlarm) => void;
  onFault: (error: unknown) => void;
  /** Longest time, in milliseconds. */
  waitMs: number;
}

export interface DrainedJournal {
  /** Epochs that dead processes had left. */
  epochs: number;
  /** Units without an end, closed as `gateway_crash`, unbilled. */
  crashed: number;
  /** Records that the ledger has not applied: they stay in the journal, and the job has to run again. */
  left: number;
}

/**
 * Empties the journals of a volume whose edges do not come back: ships what they hold, closes what they left open, and
 * waits until the ledger has applied all of it, because only then the files go. Throws where the folder is not there: an
 * empty one may be deleted.
 */
export async function drainJournal(options: DrainJournalOptions): Promise<DrainedJournal> {
  const { dir, clock, random, onAlarm } = options;
  if (!existsSync(dir)) throw new Error(`The folder ${dir} is not there: is the volume mounted?`);
  const journal = await Journal.open({
    dir,
    producer: 'drainer',
    clock,
    random,
    sync: 'group',
    budgetBytes: Number.MAX_SAFE_INTEGER,
    onAlarm,
  });
  const shipper = options.startShipper({
    watermark: (producer, epoch, seq) =>
      void journal.passed(producer, epoch, seq).catch((error: unknown) => options.onFault(error)),
    alarm: onAlarm,
  });
  journal.follow(shipper);
  const { epochs, crashed } = await journal.recover((intent, isUnreadable) =>
    crashRecord(intent, isUnreadable, clock, random),
  );
  const until = clock.monotonic() + options.waitMs;
  while (!isEmpty(journal) && clock.monotonic() < until) await clock.sleep(LOOK_EVERY_MS);
  const { backlog, unapplied } = shipper.stats();
  const left = isEmpty(journal) ? 0 : Math.max(1, backlog + unapplied);
  for (const { producer, epoch } of journal.ended)
    await options.funds.heard(producer, epoch, true).catch(options.onFault);
  await shipper.stop();
  await journal.close();
  return { epochs: epochs.length, crashed, left };
}

function isEmpty(journal: Journal): boolean {
  const { takenOverEpochs, watermark, seq } = journal.stats();
  return takenOverEpochs === 0 && watermark >= seq;
}
