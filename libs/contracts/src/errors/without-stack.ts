/**
 * Returns what `work` returns, and takes no stack of the errors that it makes. For failures that are ordinary and come
 * by the thousand, such as callers that leave: a stack says nothing there and costs most.
 */
export function withoutStack<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
