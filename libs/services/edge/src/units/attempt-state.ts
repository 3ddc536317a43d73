import type { NotBegun } from '@gateway/contracts';
import type { PlannedRoute } from '@gateway/routing';
import type { Meter } from './meter.js';

/** One try of one route while it runs and after. */
export interface AttemptState {
  planned: PlannedRoute;
  n: number;
  startedAtMs: number;
  startedMs: number;
  firstEventMs: number | null;
  endedMs: number | null;
  /** Status of the provider's last answer, or of an error in its stream; null where none came. */
  httpStatus: number | null;
  errorCode: string | null;
  providerCode: string | null;
  errorMessage: string | null;
  /** Reason why a failure proves that its provider has begun nothing. */
  notBegun: NotBegun | null;
  /** It failed by the provider's fault, not by the request's or the caller's. */
  isFault: boolean;
  meter: Meter;
}

/** The end of a unit, as the caller saw it. */
export interface UnitEnd {
  outcome: 'served' | 'failed' | 'cancelled' | 'cached';
  httpStatus: number;
  errorCode: string | null;
}
