import type { ModelRequest, Part, Turn } from './model-request.js';

type Reasoning = Extract<Part, { type: 'reasoning' | 'opaque_reasoning' }>;

/** The caller's own name of the reasoning of earlier turns, where the upstream is not sent all of it; nothing otherwise. */
export function unsentReasoning(
  { turns, callerNames }: ModelRequest,
  isSent: (part: Reasoning, turn: Turn) => boolean,
): string[] {
  const isLeftOut = turns.some((turn) =>
    turn.parts.some(
      (part) => (part.type === 'reasoning' || part.type === 'opaque_reasoning') && !isSent(part, turn),
    ),
  );
  return isLeftOut ? [callerNames.thoughts] : [];
}

/** True where the turn calls tools. */
export function hasCalls({ parts }: Turn): boolean {
  return parts.some(({ type }) => type === 'tool_call');
}
