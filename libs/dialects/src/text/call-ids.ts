import { mintedToolId } from './minted-id.js';
import type { ModelRequest, Part, Turn } from './model-request.js';
import { plainToolId } from './tool-signature.js';

/** Longer ones would not fit where OpenAI takes 64 characters. */
const READABLE_MAX = 48;

/** Ids of tool calls, each given out once: some hosts number calls by tool and place, or give none. */
class DistinctIds {
  private readonly taken = new Set<string>();
  /** Number of times that each id came. */
  private readonly counts = new Map<string, number>();

  take(id: string): void {
    this.taken.add(plainToolId(id));
  }

  /** Returns the id where it is still free, else one made of it: the same each time for the same calls. */
  distinct(id: string): string {
    const plain = plainToolId(id);
    let free = plain;
    for (let count = this.counts.get(plain) ?? 1; free === '' || this.taken.has(free);) {
      count += 1;
      this.counts.set(plain, count);
      free =
        plain === '' || plain.length > READABLE_MAX ? mintedToolId(plain, 0, count) : `${plain}_${count}`;
    }
    this.taken.add(free);
    // What follows the plain id is the signature of the call.
    return free + id.slice(plain.length);
  }
}

/** Ids of the calls of one answer as callers see them: none twice, and none that an earlier turn has. */
export class AnswerCallIds {
  private readonly ofChoices = new Map<number, DistinctIds>();

  constructor(private readonly request: Pick<ModelRequest, 'turns'>) {}

  distinct(id: string, choice: number): string {
    let ids = this.ofChoices.get(choice);
    if (!ids) {
      ids = new DistinctIds();
      for (const call of callsOf(this.request.turns)) ids.take(call.id);
      this.ofChoices.set(choice, ids);
    }
    return ids.distinct(id);
  }
}

/**
 * The turns with one id for each call: a call whose id an earlier one has gets another, and results find their calls in the
 * order in which they stand. Returns the same turns where no id is repeated.
 */
export function distinctCalls(turns: readonly Turn[]): Turn[] {
  const calls = callsOf(turns);
  const names = new Set(calls.map(({ id }) => plainToolId(id)));
  if (names.size === calls.length && !names.has('')) return turns as Turn[];
  const ids = new DistinctIds();
  /** Ids of the calls that wait for a result, by the caller's id. */
  const waiting = new Map<string, string[]>();
  const last = new Map<string, string>();
  const renamed = (part: Part): Part => {
    if (part.type === 'tool_call') {
      const id = ids.distinct(part.id);
      waiting.set(part.id, [...(waiting.get(part.id) ?? []), id]);
      last.set(part.id, id);
      return id === part.id ? part : { ...part, id };
    }
    if (part.type !== 'tool_result') return part;
    const toolCallId = waiting.get(part.toolCallId)?.shift() ?? last.get(part.toolCallId);
    return toolCallId === undefined ? part : { ...part, toolCallId };
  };
  return turns.map((turn) => {
    // A call that was never answered is not answered by a later turn.
    if (turn.role === 'assistant') waiting.clear();
    return { ...turn, parts: turn.parts.map(renamed) };
  });
}

function callsOf(turns: readonly Turn[]): Extract<Part, { type: 'tool_call' }>[] {
  return turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_call'));
}
