/**
 * What `work` returns, with no stack taken of the errors it makes. For failures that are everyday outcomes and come by the
 * thousand, such as callers that leave: their stacks say nothing, and cost more than all else that is done for them.
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
