import type { AppliedRange } from '@gateway/contracts';
import type { SyncedOutcome } from '@gateway/journal';
import { resubmit } from './resubmit.js';

function outcomes(epoch: string, from: number, to: number): SyncedOutcome[] {
  return Array.from({ length: to - from + 1 }, (_, n) => ({
    producer: 'edge-0',
    epoch,
    seq: from + n,
    topic: 'gateway.usage.v1',
    key: `acct_${(from + n) % 2}`,
    settle: null,
  }));
}

/** A ledger that answers ranges by epoch, and what reached the store. */
function setUp(answers: Record<string, AppliedRange[][]>, parts: SyncedOutcome[][]) {
  const did: string[] = [];
  const run = (): Promise<void> =>
    resubmit({
      journal: {
        async *unposted() {
          yield* parts;
        },
      },
      funds: {
        applied: async (_producer, epoch, above) => {
          const ranges = answers[epoch]?.shift();
          if (ranges === undefined) throw new Error('the ledger is away');
          return ranges.filter(([, last]) => last > above);
        },
        reportDue: async (accountId) => void did.push(`look at ${accountId}`),
      },
      queue: { delivered: async () => did.push('deliver') > 0 },
      inFlight: { resubmit: () => void did.push('in flight') },
      settle: (some) => void did.push(`settle ${some.map(({ epoch, seq }) => `${epoch}${seq}`).join(' ')}`),
    });
  return { did, run };
}

describe('putting again after a start or a loss', () => {
  it('leaves out what the ledger has applied, of dead epochs and of the living one', async () => {
    const { did, run } = setUp(
      {
        a: [[[1, 5]]],
        b: [
          [
            [1, 2],
            [4, 6],
          ],
          [
            [1, 2],
            [4, 6],
          ],
        ],
      },
      [outcomes('a', 1, 5), outcomes('b', 2, 8)],
    );
    await run();
    expect(did).toEqual(['in flight', 'settle b3 b7 b8', 'deliver', 'deliver']);
  });

  it('has those looked up at once that were posted between the answer and the put', async () => {
    const { did, run } = setUp(
      {
        a: [
          [],
          [
            [1, 1],
            [3, 3],
          ],
        ],
      },
      [outcomes('a', 1, 4)],
    );
    await run();
    expect(did).toEqual(['in flight', 'settle a1 a2 a3 a4', 'deliver', 'look at acct_1', 'deliver']);
  });

  it('puts everything where the ledger cannot be asked: the store doubts it', async () => {
    const { did, run } = setUp({}, [outcomes('a', 1, 2)]);
    await run();
    expect(did).toEqual(['in flight', 'settle a1 a2', 'deliver', 'deliver']);
  });
});
