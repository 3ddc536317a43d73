import { PROVIDERS } from '../registry.generated.js';
import { TransportFailure, type TransportFault } from '../transport.js';
import type { FailureSignal } from './failure-signal.js';

describe.each(PROVIDERS.map((provider) => [provider.slug, provider] as const))(
  'what a failure of %s proves',
  (_slug, provider) => {
    const proof = (signal: FailureSignal): string | undefined => provider.classify(signal).options.notBegun;
    const byFault = (fault: TransportFault): string | undefined =>
      proof({ kind: 'transport', failure: new TransportFailure(fault), byok: false });
    const byStatus = (status: number): string | undefined =>
      proof({ kind: 'status', status, headers: {}, body: Buffer.from('{}'), byok: false, nowMs: 0 });

    it.each(['connect', 'timeout_connect'] as const)('%s: nothing was begun', (fault) => {
      expect(byFault(fault)).toBe('not_connected');
    });

    it.each(['reset', 'timeout_first_byte', 'timeout_idle', 'timeout_total', 'too_large'] as const)(
      '%s: it may have begun',
      (fault) => {
        expect(byFault(fault)).toBeUndefined();
      },
    );

    it.each([401, 403, 429])('status %i: nothing was begun', (status) => {
      expect(byStatus(status)).toBe('refused');
    });

    it.each([408, 424, 500, 502, 503, 504, 529])('status %i: it may have begun', (status) => {
      expect(byStatus(status)).toBeUndefined();
    });
  },
);
