import type { AppliedRange, Funds } from '@gateway/contracts';
import type { Journal, SyncedOutcome } from '@gateway/journal';
import type { SettlementQueue } from '@gateway/limits';
import type { InFlight } from './in-flight.js';

export interface ResubmitDeps {
  journal: Pick<Journal, 'unposted'>;
  funds: Pick<Funds, 'applied' | 'reportDue'>;
  queue: Pick<SettlementQueue, 'delivered'>;
  inFlight: Pick<InFlight, 'resubmit'>;
  settle: (outcomes: readonly SyncedOutcome[]) => void;
}

/**
 * Reports to the limit store everything that this process knows and the ledger does not: units in flight, and synced
 * outcomes that are not applied. The ledger is asked before each part: the watermark of a dead epoch is not known, that of
 * a living one lags, and a posted unit would count twice. A unit that is posted between the ledger's reply and our
 * settlement is freed at once. Settles all of them where the ledger cannot be asked; the store counts those as doubted. Throws Error
 * where the store is unavailable.
 */
export async function resubmit({ journal, funds, queue, inFlight, settle }: ResubmitDeps): Promise<void> {
  const deliver = async (): Promise<void> => {
    if (!(await queue.delivered())) throw new Error('the limit store is unavailable');
  };
  const unapplied = async (outcomes: readonly SyncedOutcome[]): Promise<SyncedOutcome[]> => {
    const [{ producer, epoch, seq }] = outcomes;
    const ranges = await funds.applied(producer, epoch, seq - 1).catch(() => []);
    return without(outcomes, ranges);
  };
  inFlight.resubmit();
  // The journal is read no faster than the units go.
  for await (const outcomes of journal.unposted()) {
    const open = await unapplied(outcomes);
    if (open.length === 0) continue;
    settle(open);
    await deliver();
    const still = new Set(await unapplied(open));
    const posted = new Set(open.filter((outcome) => !still.has(outcome)).map(({ key }) => key));
    for (const accountId of posted) await funds.reportDue(accountId).catch(() => undefined);
  }
  await deliver();
}

/** Both ascend. */
function without(outcomes: readonly SyncedOutcome[], ranges: readonly AppliedRange[]): SyncedOutcome[] {
  let at = 0;
  return outcomes.filter(({ seq }) => {
    while (at < ranges.length && ranges[at][1] < seq) at += 1;
    return at === ranges.length || seq < ranges[at][0];
  });
}
