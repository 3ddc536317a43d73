import type { Part, Turn } from './model-request.js';

const LAST = Number.MAX_SAFE_INTEGER;

/**
 * The turns with the results of tools in the order of their calls: a format that has no ids for them, or reads them by
 * their names, pairs two results of one tool by their order.
 */
export function inCallOrder(turns: readonly Turn[]): readonly Turn[] {
  let order = new Map<string, number>();
  const placeOf = (part: Part): number =>
    part.type === 'tool_result' ? (order.get(part.toolCallId) ?? LAST) : LAST;
  return turns.map((turn) => {
    if (turn.role === 'assistant') {
      const calls = turn.parts.filter((part) => part.type === 'tool_call');
      order = new Map(calls.map(({ id }, at) => [id, at]));
    }
    if (turn.role !== 'tool' || turn.parts.length < 2) return turn;
    return { ...turn, parts: [...turn.parts].sort((a, b) => placeOf(a) - placeOf(b)) };
  });
}
