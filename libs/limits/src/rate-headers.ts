import { HEADER } from '@gateway/contracts';
import type { AdmitResult, LimitScope } from '@gateway/contracts';

export type Admitted = Extract<AdmitResult, { kind: 'ok' }>;
export type RejectedAdmission = Extract<AdmitResult, { kind: 'refused' }>;

/** Counters of one scope after a unit was counted, as usage records carry them. null = unlimited. */
export interface ScopeReading {
  scope: LimitScope['kind'];
  scope_id: string;
  rpm: number;
  rpd: number;
  rpm_limit: number | null;
  rpd_limit: number | null;
  cap_usd: string | null;
}

/**
 * OpenAI-style rate headers for requests a minute of the key alone, of a rejection by whichever limit
 * too: the scopes above may refuse while `remaining` is above zero. Without a limit on the key there is nothing to report.
 */
export function rateHeaders(
  scopes: readonly LimitScope[],
  answered: Admitted | RejectedAdmission,
): Record<string, string> {
  const limit = scopes.find((scope) => scope.kind === 'key')?.rpm ?? null;
  const [rpm, resetsInSeconds] =
    answered.kind === 'refused'
      ? [answered.keyMinute?.rpm, answered.keyMinute?.resetsInSeconds ?? 0]
      : [answered.counters.find(({ kind }) => kind === 'key')?.rpm, answered.minuteResetSeconds];
  if (limit === null || rpm === undefined) return {};
  return {
    [HEADER.rateLimit]: String(limit),
    [HEADER.rateRemaining]: String(Math.max(0, limit - rpm)),
    [HEADER.rateReset]: durationText(resetsInSeconds),
  };
}

/** Seconds as OpenAI writes them: `1s`, `6m0s`, `1h0m0s`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours}h${minutes}m${whole % 60}s`;
  return minutes > 0 ? `${minutes}m${whole % 60}s` : `${whole}s`;
}

/** Counters with their limits and caps, from which notifications find the rungs of rate_limit.threshold. */
export function limitReadings(
  scopes: readonly LimitScope[],
  admitted: Admitted,
  capUsdOf: (index: number) => string | null,
): ScopeReading[] {
  return scopes.map(({ kind, id, rpm, rpd }, index) => ({
    scope: kind,
    scope_id: id,
    rpm: admitted.counters[index].rpm,
    rpd: admitted.counters[index].rpd,
    rpm_limit: rpm,
    rpd_limit: rpd,
    cap_usd: capUsdOf(index),
  }));
}
