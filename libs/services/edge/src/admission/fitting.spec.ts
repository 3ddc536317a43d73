import fc from 'fast-check';
import type { AdmitRequest, AdmitResult } from '@gateway/contracts';
import { InProcessLimitStore } from '@gateway/limits';
import { fixedClock, seededRandom } from '@gateway/testing/plain';
import { fittingRejection, fittingRequest } from './fitting.js';

const KEY = { kind: 'key', id: 'key_1' } as const;

function requestOf(more: Partial<AdmitRequest>): AdmitRequest {
  return {
    ...{ accountId: 'acct_1', accountVersion: 1, unitId: 'req_1/0', extra: [], creditLimitNano: null },
    scopes: [{ ...KEY, rpm: null, rpd: null, tpm: null, capNano: null }],
    ...{ reservationNano: 0n, tokenEstimate: 0, leaseMs: 90_000 },
    ...more,
  };
}

/** Returns the answer of a store that knows this spend. */
async function answered(
  request: AdmitRequest,
  { spent = 0n, balance = 0n }: { spent?: bigint; balance?: bigint },
): Promise<AdmitResult> {
  const store = new InProcessLimitStore({
    clock: fixedClock('2026-01-01T00:00:00Z'),
    random: seededRandom(1),
  });
  const first = await store.admit(request);
  if (first.kind !== 'stale') throw new Error(`a new store answered ${first.kind}`);
  const { gen } = first;
  await store.stamp('acct_1', 1, gen);
  const scopes = [
    { ...KEY, postedNano: spent },
    { kind: 'key', id: 'key_1/m:lab/own', postedNano: spent } as const,
  ];
  await store.mirror({ accountId: 'acct_1', gen, version: 1, balanceNano: balance, scopes, units: [] });
  return store.admit(request);
}

/** Limit that a rejection names; null where the request was let in. */
function limitOf(result: AdmitResult, request: AdmitRequest): string | null {
  if (result.kind === 'ok') return null;
  if (result.kind !== 'refused') throw new Error(`the store answered ${result.kind}`);
  return fittingRejection(result.rejection, request).limit;
}

const nano = fc.bigInt({ min: 1n, max: 10n ** 12n });

describe('a request that memory was attached to', () => {
  it('is let in where its own cost fits below a cap, and the rejection names the cap as it stands', () =>
    fc.assert(
      fc.asyncProperty(nano, nano, nano, fc.boolean(), async (capNano, spent, reservationNano, ofModel) => {
        const own = { rpm: null, rpd: null, tpm: null, capNano };
        const request = requestOf({
          reservationNano,
          ...(ofModel ? { extra: [{ name: 'm:lab/own', ...own }] } : { scopes: [{ ...KEY, ...own }] }),
        });
        const fits = spent + reservationNano < capNano;
        expect(limitOf(await answered(fittingRequest(request), { spent }), request)).toBe(
          fits ? null : String(capNano),
        );
        // Any other one may cross the cap.
        const crossing = await answered(request, { spent });
        expect(crossing.kind).toBe(spent < capNano ? 'ok' : 'refused');
      }),
    ));

  it('is let in where the balance and the credit pay for it, and the rejection names the credit as it stands', () =>
    fc.assert(
      fc.asyncProperty(nano, nano, nano, async (creditLimitNano, balance, reservationNano) => {
        const request = requestOf({ creditLimitNano, reservationNano });
        const fits = balance + creditLimitNano - reservationNano > 0n;
        expect(limitOf(await answered(fittingRequest(request), { balance }), request)).toBe(
          fits ? null : String(-creditLimitNano),
        );
      }),
    ));

  it('is under no cap where there is none, and a rejection by a count stays as it is', async () => {
    const unlimited = requestOf({ reservationNano: 10n ** 12n });
    expect(limitOf(await answered(fittingRequest(unlimited), {}), unlimited)).toBeNull();
    const counted = requestOf({
      reservationNano: 5n,
      scopes: [{ ...KEY, rpm: 0, rpd: null, tpm: null, capNano: null }],
    });
    expect(limitOf(await answered(fittingRequest(counted), {}), counted)).toBe('0');
  });
});
