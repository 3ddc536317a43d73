import type { ModelRequest } from './model-request.js';

/** The caller's own names of cache markers: what is reported where one of them finds no place. */
export function markerNames({ hints }: ModelRequest): string[] {
  return ['cache_control', 'prompt_cache_breakpoint'].filter((name) => name in hints);
}

/** Hints that a route drops and reports: all but those that it honours or that ask for what happens anyway. */
export function ignoredHints({ hints }: ModelRequest, honoured: ReadonlySet<string>): string[] {
  return Object.keys(hints).filter(
    (name) => !honoured.has(name) && !(name === 'parallel_tool_calls' && hints[name] === true),
  );
}
