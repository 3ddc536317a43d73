import { HEADER, type Refusal } from '@gateway/contracts';
import { durationText } from '@gateway/limits';

/** Rate headers of a 429 by the key's own requests a minute; nothing is known of them where another limit refused. */
export function refusedRateHeaders({
  scope,
  metric,
  counter,
  limit,
  resetsInSeconds,
}: Refusal): Record<string, string> {
  if (scope !== 'key' || metric !== 'rpm' || counter !== null) return {};
  return {
    [HEADER.rateLimit]: limit,
    [HEADER.rateRemaining]: '0',
    [HEADER.rateReset]: durationText(resetsInSeconds ?? 0),
  };
}
