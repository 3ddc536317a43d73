/** A refusal or a failure of the API, as the page shows it. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** By field of the body, for forms. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(options: {
    status: number;
    code: string;
    message: string;
    requestId?: string | null;
    retryAfterSeconds?: number | null;
    fields?: Readonly<Record<string, string>>;
  }) {
    super(options.message);
    this.name = 'Problem';
    this.status = options.status;
    this.code = options.code;
    this.requestId = options.requestId ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
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

/** What an answer above 299 says; an answer that is not ours, as of a proxy, still names its status. */
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
    fields: Object.fromEntries(
      details.map(({ loc = [], msg = '' }) => [loc.filter((part) => part !== 'body').join('.'), msg]),
    ),
  });
}

/** A request that found no server. */
export function unreachable(): Problem {
  return new Problem({
    status: 0,
    code: 'unreachable',
    message: 'The gateway cannot be reached from this browser.',
  });
}

/** Whether the same request may succeed later: the server's own faults, its limits, and no answer at all. */
export function isRetryable({ status }: Problem): boolean {
  return status === 0 || status === 429 || status === 408 || status >= 500;
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
