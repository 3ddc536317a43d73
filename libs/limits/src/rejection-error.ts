import { ApiError } from '@gateway/contracts';
import type { CountedBudget, LimitRejection, Random } from '@gateway/contracts';
import { Usd } from '@gateway/money';

/** Whole seconds added to the time of the reset, so that callers do not come back all at once. */
const JITTER_SECONDS = 5;
/** The longest Retry-After that OpenAI's and Anthropic's SDKs wait for. */
const SDK_WAITS_SECONDS = 60;

const SCOPE_WORDS: Record<LimitRejection['scope'], string> = {
  key: 'key',
  team_member: 'team member',
  member: 'organization member',
  team: 'team',
  org: 'organization',
  tag: 'tag',
  end_user: 'end user',
  provider: 'provider',
  account: 'account',
};

const METRIC_WORDS = {
  rpm: ['request per minute', 'requests per minute'],
  rpd: ['request per day', 'requests per day'],
  tpm: ['token per minute', 'tokens per minute'],
} as const;

/** The owner of the money. */
export interface Payer {
  /** Null for a key that belongs to no organization. */
  orgId: string | null;
}

/**
 * A rejection as the caller sees it: 429 `rate_limit_exceeded` with Retry-After in [reset, reset + 5 s], or 402
 * `spend_limit_exceeded`. The 402 is worth a retry in a second only where running requests hold what is missing.
 */
export function rejectionError(rejection: LimitRejection, random: Random, payer: Payer): ApiError {
  switch (rejection.metric) {
    case 'rpm':
    case 'rpd':
    case 'tpm': {
      // The seconds are rounded up already, so a jitter below 5 stays within 5 s of the true reset.
      const jitter = Math.floor(random.fraction() * JITTER_SECONDS);
      const resetsInSeconds = rejection.resetsInSeconds ?? 0;
      const [one, many] = METRIC_WORDS[rejection.metric];
      return new ApiError('rate_limit_exceeded', {
        message: `The limit of ${rejection.limit} ${rejection.limit === '1' ? one : many}${counterWords(rejection)} of the ${SCOPE_WORDS[rejection.scope]} is used up.`,
        retryAfterSeconds: resetsInSeconds + jitter,
        // SDKs wait a minute at most: later ones they would ask at once, in vain.
        shouldRetry: resetsInSeconds <= SDK_WAITS_SECONDS,
      });
    }
    case 'spend_cap':
    case 'balance': {
      const money = rejectedMoney(rejection);
      const options = helpsWaiting(rejection)
        ? { retryAfterSeconds: 1, shouldRetry: true }
        : { shouldRetry: false };
      const { budget } = rejection;
      const state = rejection.metric === 'balance' ? balanceWords(money, payer) : capWords(rejection, money);
      const message = money.isFinal ? state : `${state} ${heldWords(rejection, money)}`;
      return new ApiError('spend_limit_exceeded', {
        message,
        ...options,
        ...(budget === undefined ? {} : { budgetId: budget.id }),
      });
    }
  }
}

/** Amounts of a rejection for money, in nano-USD. */
export interface RejectedMoney {
  /** Cap and the amount spent of it; null for the balance. */
  limit: bigint | null;
  spent: bigint | null;
  /** Amount left without what is in flight; below 0 where a request crossed the limit. */
  available: bigint;
  /** The most that what is in flight may cost. */
  held: bigint;
  /** True if spent money alone refuses it: nothing changes by waiting. */
  isFinal: boolean;
}

/** Returns the money behind a rejection. */
export function rejectedMoney({
  metric,
  current,
  limit,
  held,
  reservationsOnly,
}: LimitRejection): RejectedMoney {
  const inFlight = BigInt(held?.scope ?? '0');
  const isFinal = !reservationsOnly;
  const [now, most] = [BigInt(current), BigInt(limit)];
  if (metric === 'balance')
    return { limit: null, spent: null, available: now + inFlight - most, held: inFlight, isFinal };
  const spent = now - inFlight;
  return { limit: most, spent, available: most - spent, held: inFlight, isFinal };
}

/**
 * True if a retry may pass once the running requests have ended. Batches and videos may run for hours: where they alone
 * leave none, a retry is in vain.
 */
function helpsWaiting(rejection: LimitRejection): boolean {
  const { available, held, isFinal } = rejectedMoney(rejection);
  if (isFinal) return false;
  if (rejection.held === null) return true;
  const { account, batch, video } = rejection.held;
  // What of it this scope holds is not known; it is at least what cannot be of short work.
  const short = BigInt(account) - BigInt(batch) - BigInt(video);
  return held - short < available;
}

function capWords(rejection: LimitRejection, { limit, spent, available, isFinal }: RejectedMoney): string {
  const { budget, scope } = rejection;
  const amount = `${usd(limit ?? 0n)} USD`;
  const cap =
    budget === undefined
      ? `spend cap of ${amount}${counterWords(rejection)} of the ${SCOPE_WORDS[scope]}`
      : `budget "${budget.name}" of ${amount} of the ${SCOPE_WORDS[scope]}, ${periodWords(budget)},`;
  if (isFinal && available > 0n)
    return `Of the ${cap} ${usd(available)} USD are left; this request may cost more.`;
  return isFinal
    ? `The ${cap} is reached: ${usd(spent ?? 0n)} USD are spent.`
    : `Of the ${cap} ${usd(spent ?? 0n)} USD are spent.`;
}

function periodWords({ endMs, rollingDays = 1 }: CountedBudget): string {
  return endMs === null
    ? `which counts the last ${rollingDays} x 24 hours`
    : `whose period ends at ${new Date(endMs).toISOString()}`;
}

function balanceWords({ available, isFinal }: RejectedMoney, { orgId }: Payer): string {
  const amount = `${usd(available)} USD`;
  const whose =
    orgId === null
      ? 'This key belongs to no organization; its own balance'
      : 'The balance of the organization';
  if (!isFinal) return `${whose} is ${amount}.`;
  if (available > 0n) return `${whose} is ${amount}; this request may cost more.`;
  return orgId === null
    ? `${whose} is ${amount}. Add credit to it, or use a key of an organization.`
    : `${whose} is used up: ${amount} are available.`;
}

function heldWords(rejection: LimitRejection, { held }: RejectedMoney): string {
  const { account = '0', batch = '0', video = '0', realtime = '0' } = rejection.held ?? {};
  const long = BigInt(batch) + BigInt(video) + BigInt(realtime);
  const kinds = [
    ...(BigInt(account) > long ? ['running requests'] : []),
    ...(batch === '0' ? [] : ['batches']),
    ...(video === '0' ? [] : ['videos']),
    ...(realtime === '0' ? [] : ['realtime sessions']),
  ];
  const who = kinds.length === 0 ? 'running requests' : listed(kinds);
  const advice = helpsWaiting(rejection)
    ? 'Send the request again when they have ended, or set a lower max_tokens.'
    : 'They may take hours; raise the limit or add credit to go on at once.';
  return `Up to ${usd(held)} USD are held by ${who}. ${advice}`;
}

function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

function counterWords(rejection: LimitRejection): string {
  if (rejection.counter === null) return '';
  return rejection.counter === 'free'
    ? ' over all free models'
    : ` for ${rejection.counter.slice('m:'.length)}`;
}

function usd(nano: bigint): string {
  return Usd.fromNano(nano).toString();
}
