import { QueryClient } from '@tanstack/react-query';
import { asProblem, isRetryable } from './problem.js';

const RETRIES = 2;

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        retry: (failures, failure) => failures < RETRIES && mayRetry(failure),
      },
      mutations: { retry: false },
    },
  });
}

/** What asks for a wait is shown with its countdown instead. */
function mayRetry(failure: unknown): boolean {
  const problem = asProblem(failure);
  return isRetryable(problem) && problem.retryAfterSeconds === null;
}
