import type { RecalledItems } from '@gateway/contracts';
import type { TurnMemory } from '../request/inference-request.js';

type Json = Record<string, unknown>;

/** Number of its own responses that one connection remembers, unstored ones among them. */
const RESPONSES_MAX = 4;
const BYTES_MAX = 8 * 1_048_576;

interface Remembered {
  recalled: RecalledItems;
  bytes: number;
}

/** The newest responses of a connection: a client that stores nothing goes on from the one before. */
export class SessionMemory {
  private readonly known = new Map<string, Remembered>();
  private isClosed = false;

  /** `budget`: bytes that all connections of the process may still remember. */
  constructor(private readonly budget: { bytes: number }) {}

  /** `end` forgets what a turn that kept no answer went on from: its client begins anew, as OpenAI's clients do. */
  turn(): TurnMemory & { end(): void } {
    let before: RecalledItems | null = null;
    let from: string | null = null;
    return {
      recall: async (link, look) => {
        from = 'response_id' in link ? link.response_id : null;
        before = (from === null ? undefined : this.known.get(from)?.recalled) ?? (await look());
        return before;
      },
      store: ({ id, input, response, credential }) => {
        const output = Array.isArray(response.output) ? (response.output as Json[]) : [];
        const items = [...(before?.items ?? []), ...input, ...output];
        from = null;
        const model = typeof response.model === 'string' ? response.model : null;
        this.keep(id, { items, credential, model });
      },
      end: () => {
        if (from !== null) this.forget(from);
      },
    };
  }

  /** Forgets all, and keeps nothing more. */
  close(): void {
    this.isClosed = true;
    for (const id of this.known.keys()) this.forget(id);
  }

  private keep(id: string, recalled: RecalledItems): void {
    if (this.known.size >= RESPONSES_MAX) {
      const [oldest] = this.known.keys();
      this.forget(oldest);
    }
    const bytes = Buffer.byteLength(JSON.stringify(recalled.items));
    if (this.isClosed || bytes > Math.min(BYTES_MAX, this.budget.bytes)) return;
    this.forget(id);
    this.budget.bytes -= bytes;
    this.known.set(id, { recalled, bytes });
  }

  private forget(id: string): void {
    this.budget.bytes += this.known.get(id)?.bytes ?? 0;
    this.known.delete(id);
  }
}
