import type { JsonObject } from '../../body/json-object.js';
import type { CacheMarker, ModelRequest, Part, Turn } from '../model-request.js';

/** OpenAI writes at most as many prefixes of one request. */
const MOST_BREAKPOINTS = 4;

/** The lifetimes of other formats have no word here: that of the whole request (`prompt_cache_options`) counts. */
export function withBreakpoint(part: JsonObject, cache: CacheMarker | undefined): JsonObject {
  return cache === undefined ? part : { ...part, prompt_cache_breakpoint: { mode: 'explicit' } };
}

/**
 * The turns with the last 4 markers of what is sent to the model, or with none where the route takes none. `isCut` where
 * one was left out: those of tools, calls and answers always are, because OpenAI takes breakpoints on input alone.
 */
export function markedTurns(
  { turns, tools }: ModelRequest,
  isTaken: boolean,
): { turns: readonly Turn[]; isCut: boolean } {
  const asked = tools.filter(({ cache }) => cache !== undefined).length + markersOf(turns);
  if (asked === 0) return { turns, isCut: false };
  let left = isTaken ? MOST_BREAKPOINTS : 0;
  let kept = 0;
  // From the last one backwards: what a part holds stands before the end of the part.
  const limited = (part: Part): Part => {
    const { cache, ...rest } = part as Part & { cache?: CacheMarker };
    const isKept = cache !== undefined && left > 0;
    if (isKept) {
      left -= 1;
      kept += 1;
    }
    const inner = rest.type === 'tool_result' ? { parts: backwards(rest.parts, limited) } : {};
    return { ...rest, ...inner, ...(isKept ? { cache } : {}) } as Part;
  };
  const found = backwards(turns, (turn) =>
    turn.role === 'assistant' ? turn : { ...turn, parts: backwards(turn.parts, limited) },
  );
  return { turns: found, isCut: kept < asked };
}

function backwards<T>(list: readonly T[], change: (one: T) => T): T[] {
  return [...list].reverse().map(change).reverse();
}

function markersOf(turns: readonly Turn[]): number {
  const ofParts = (parts: readonly Part[]): number =>
    parts.reduce((sum, part) => {
      const own = 'cache' in part && part.cache !== undefined ? 1 : 0;
      return sum + own + (part.type === 'tool_result' ? ofParts(part.parts) : 0);
    }, 0);
  return turns.reduce((sum, { parts }) => sum + ofParts(parts), 0);
}
