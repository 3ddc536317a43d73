import { requestFor, type AdmissionDeps, type AdmittedUnit, type Planned } from './admit.js';

const MINUTE_MS = 60_000;

/**
 * Admits what its provider has done already: a limit that is full by now would make it free. The store learns of the unit as of
 * one that was let in while it was away; it counts no request, because the provider ran it at its own pace.
 */
export function letIn(
  unit: string,
  planned: Planned,
  deps: Pick<AdmissionDeps, 'outputs' | 'clock'>,
): AdmittedUnit {
  const request = requestFor(unit, planned, deps);
  const counters = request.scopes.map(({ kind, id }) => ({ kind, id, rpm: 0, rpd: 0, tpm: 0 }));
  const minute = Math.floor(deps.clock.now() / MINUTE_MS);
  const admitted = { outcome: 'ok', counters, minuteResetSeconds: 0, minute, away: 'unasked' } as const;
  return { ...planned, request, admitted };
}
