import { fieldMessage } from './field-words.js';

/** A rejection or a failure of the API, as the page shows it. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** True if a program may send the same again, as the answer says; null where it says nothing. */
  readonly shouldRetry: boolean | null;
  /** Messages by field of the body, for forms. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(options: {
    status: number;
    code: string;
    message: string;
    requestId?: string | null;
    retryAfterSeconds?: number | null;
    shouldRetry?: boolean | null;
    fields?: Readonly<Record<string, string>>;
  }) {
    super(options.message);
    this.name = 'Problem';
    this.status = options.status;
    this.code = options.code;
    this.requestId = options.requestId ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.shouldRetry = options.shouldRetry ?? null;
    this.fields = options.fields ?? {};
  }
}

interface Envelope {
  error?: {
    code?: string;
    message?: string;
    request_id?: string;
    details?: { loc?: (string | number)[]; msg?: string }[];
  };
}

/** Returns the problem of an answer above 299; an answer that is not ours, as of a proxy, still names its status. */
export async function problemOf(answer: Response): Promise<Problem> {
  const body: unknown = await answer.json().catch(() => null);
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as Envelope;
  const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN);
  const details = Array.isArray(error?.details) ? error.details : [];
  return new Problem({
    status: answer.status,
    code: error?.code ?? `http_${answer.status}`,
    message: error?.message ?? 'The gateway gave no answer that the dashboard can read.',
    requestId: answer.headers.get('x-request-id') ?? error?.request_id ?? null,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
    shouldRetry: shouldRetryOf(answer.headers.get('x-should-retry')),
    fields: Object.fromEntries(
      details.map(({ loc = [], msg = '' }) => [
        loc.filter((part) => part !== 'body').join('.'),
        fieldMessage(msg),
      ]),
    ),
  });
}

function shouldRetryOf(header: string | null): boolean | null {
  return header === 'true' || header === 'false' ? header === 'true' : null;
}

/** A request that found no server. */
export function unreachable(): Problem {
  return new Problem({
    status: 0,
    code: 'unreachable',
    message: 'The gateway cannot be reached from this browser.',
  });
}

/** True if the failure decides nothing about the request: the server's own faults, its limits, and no answer at all. */
export function isUndecided({ status }: Problem): boolean {
  return status === 0 || status === 429 || status === 408 || status >= 500;
}

/**
 * Returns true if the same request may be sent again. An answer that says no decides, then `listed`, the entry of the
 * gateway's table of errors. Where it is not known, the answer decides; where no gateway has answered, as behind a
 * proxy, the status.
 */
export function isRetryable(problem: Problem, listed: boolean | null = null): boolean {
  if (problem.shouldRetry === false) return false;
  return listed ?? problem.shouldRetry ?? (isUndecided(problem) && problem.status !== 501);
}

/** True if no provider of the model has a credential: it is not a failure that waiting ends. */
export function needsProviderKey({ code, shouldRetry }: Problem): boolean {
  return code === 'provider_not_available' && shouldRetry === false;
}

export function asProblem(failure: unknown): Problem {
  if (failure instanceof Problem) return failure;
  if (failure instanceof TypeError && /fetch|network|load failed/i.test(failure.message))
    return unreachable();
  return new Problem({
    status: 0,
    code: 'dashboard_fault',
    message: failure instanceof Error ? failure.message : 'Something in the dashboard failed.',
  });
}
