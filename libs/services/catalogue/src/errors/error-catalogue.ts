import { createHash } from 'node:crypto';
import { ERRORS, type ErrorCategory, type ErrorEntry, type Fault } from '@gateway/contracts';

/** The way in which a reader should repeat a failed request. */
type Retry = 'never_unchanged' | 'after_account_change' | 'with_backoff' | 'see_entry';

interface Category {
  title: string;
  fault: Fault;
  retry: Retry;
}

interface Code {
  status: number;
  /** Every status the code may be sent with; the first one is `status`. */
  statuses: number[];
  category: ErrorCategory;
  fault: Fault;
  retryable: boolean;
  /** True where the answer carries Retry-After. */
  retry_after: boolean;
  action: string;
  provider_codes: string[];
}

export interface ErrorCatalogue {
  /** Changes whenever a code, status, category or action does. */
  version: string;
  /** Advice for a code that is not listed. */
  default: Code;
  categories: Record<ErrorCategory, Category>;
  codes: Record<string, Code>;
}

/** Classes of errors, as GET /v1/errors names them. */
const CATEGORIES: Record<ErrorCategory, Category> = {
  request: { title: 'Your request', fault: 'caller', retry: 'never_unchanged' },
  account: { title: 'Your account', fault: 'account', retry: 'after_account_change' },
  provider: { title: 'A model provider', fault: 'service', retry: 'with_backoff' },
  service: { title: 'The gateway', fault: 'service', retry: 'with_backoff' },
  mixed: {
    title: 'Several attempts; error.attempts says who is at fault',
    fault: 'mixed',
    retry: 'see_entry',
  },
};

/** Answer of GET /v1/errors, made from the one table. */
export function errorCatalogue(table: Readonly<Record<string, ErrorEntry>> = ERRORS): ErrorCatalogue {
  const codes = Object.fromEntries(Object.entries(table).map(([code, entry]) => [code, toCode(entry)]));
  const content = { default: toCode(ERRORS.internal_error), categories: CATEGORIES, codes };
  const version = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 12);
  return { version, ...content };
}

function toCode(entry: ErrorEntry): Code {
  return {
    status: entry.status,
    statuses: [...(entry.statuses ?? [entry.status])],
    category: entry.category,
    fault: entry.fault,
    retryable: entry.retryable,
    retry_after: entry.retryAfter,
    action: entry.action,
    provider_codes: [...entry.providerCodes],
  };
}
