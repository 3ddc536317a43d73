import type { ModelRequest } from './model-request.js';

/** Hints that a route drops and reports: all but those that it honours or that ask for what happens anyway. */
export function ignoredHints({ hints }: ModelRequest, honoured: ReadonlySet<string>): string[] {
  return Object.keys(hints).filter(
    (name) => !honoured.has(name) && !(name === 'parallel_tool_calls' && hints[name] === true),
  );
}
