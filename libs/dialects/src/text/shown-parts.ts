import type { Part, Turn } from './model-request.js';

/**
 * Returns the parts that a model is shown: those of the turns, and those within results of tools in the place of the
 * results.
 */
export function shownParts(turns: readonly Pick<Turn, 'parts'>[]): Part[] {
  return turns.flatMap(({ parts }) =>
    parts.flatMap((part): Part[] => (part.type === 'tool_result' ? part.parts : [part])),
  );
}
