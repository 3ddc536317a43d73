import { ApiError } from '@gateway/contracts';
import type { ApiErrorOptions, Random, Refusal } from '@gateway/contracts';
import { Usd } from '@gateway/money';

/** Whole seconds added to the time of the reset, so that callers do not come back all at once. */
const JITTER_SECONDS = 5;
/** The longest Retry-After that OpenAI's and Anthropic's SDKs wait for. */
const SDK_WAITS_SECONDS = 60;

const SCOPE_WORDS: Record<Refusal['scope'], string> = {
  key: 'key',
  team_member: 'team member',
  member: 'organization member',
  team: 'team',
  org: 'organization',
  account: 'account',
};

const METRIC_WORDS = {
  rpm: 'requests per minute (rpm)',
  rpd: 'requests per day (rpd)',
  tpm: 'tokens per minute (tpm)',
} as const;

/**
 * A refusal as the caller sees it: 429 `rate_limit_exceeded` with Retry-After in [reset, reset + 5 s], or 402
 * `spend_limit_exceeded`, worth a retry in a second only where reservations alone caused it.
 */
export function refusalError(refusal: Refusal, random: Random): ApiError {
  switch (refusal.metric) {
    case 'rpm':
    case 'rpd':
    case 'tpm': {
      // The seconds are rounded up already, so a jitter below 5 stays within 5 s of the true reset.
      const jitter = Math.floor(random.fraction() * JITTER_SECONDS);
      const resetsInSeconds = refusal.resetsInSeconds ?? 0;
      return new ApiError('rate_limit_exceeded', {
        message: `The limit of ${refusal.limit} ${METRIC_WORDS[refusal.metric]}${counterWords(refusal)} of the ${SCOPE_WORDS[refusal.scope]} is used up.`,
        retryAfterSeconds: resetsInSeconds + jitter,
        // SDKs wait a minute at most: later ones they would ask at once, in vain.
        shouldRetry: resetsInSeconds <= SDK_WAITS_SECONDS,
      });
    }
    case 'spend_cap':
      return new ApiError('spend_limit_exceeded', {
        message: `The spend cap of ${usd(refusal.limit)} USD${counterWords(refusal)} of the ${SCOPE_WORDS[refusal.scope]} is reached (spend_cap).`,
        ...retryOf(refusal),
      });
    case 'balance':
      return new ApiError('spend_limit_exceeded', {
        message: 'The balance of the account is insufficient (balance).',
        ...retryOf(refusal),
      });
  }
}

function retryOf(refusal: Refusal): Pick<ApiErrorOptions, 'retryAfterSeconds' | 'shouldRetry'> {
  return refusal.reservationsOnly ? { retryAfterSeconds: 1, shouldRetry: true } : { shouldRetry: false };
}

function counterWords(refusal: Refusal): string {
  if (refusal.counter === null) return '';
  return refusal.counter === 'free' ? ' over all free models' : ` for ${refusal.counter.slice('m:'.length)}`;
}

function usd(nano: string): string {
  return Usd.fromNano(BigInt(nano)).toString();
}
