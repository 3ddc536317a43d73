import { createHash } from 'node:crypto';
import type { ModelRequest, Part, ToolChoice } from './model-request.js';
import { plainToolId } from './tool-signature.js';

const NAME_LIMIT = 64;
const DIGEST_LENGTH = 8;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Names of tools as the upstream may know them: in its letters and of its length, with the way back. */
export class ToolNames {
  /** Names of the upstream with the caller's own. */
  readonly originals: Record<string, string> = {};

  /** `taken`: what the upstream takes; `limit`: of how many characters. */
  constructor(
    private readonly taken: RegExp = NAME,
    private readonly limit = NAME_LIMIT,
  ) {}

  get hasShortened(): boolean {
    return Object.keys(this.originals).length > 0;
  }

  upstream(name: string): string {
    if (this.taken.test(name)) return name;
    const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
    const letters = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
    const short = `${letters.slice(0, this.limit - DIGEST_LENGTH - 1)}_${digest}`;
    this.originals[short] = name;
    return short;
  }
}

/** The request with the upstream's names of tools: in the tools, the choice and the history. */
export function renamed(request: ModelRequest, names: ToolNames): ModelRequest {
  const part = (one: Part): Part =>
    one.type === 'tool_call' ? { ...one, name: names.upstream(one.name) } : one;
  return {
    ...request,
    tools: request.tools.map((tool) => ({ ...tool, name: names.upstream(tool.name) })),
    toolChoice: renamedChoice(request.toolChoice, names),
    turns: request.turns.map((turn) =>
      turn.role === 'assistant' ? { ...turn, parts: turn.parts.map(part) } : turn,
    ),
  };
}

function renamedChoice(choice: ToolChoice | null, names: ToolNames): ToolChoice | null {
  if (choice?.mode === 'named') return { ...choice, name: names.upstream(choice.name) };
  if (choice?.mode !== 'allowed') return choice;
  return { ...choice, names: choice.names.map((name) => names.upstream(name)) };
}

/** A tool call id that the provider accepts: the caller's, or one that always stands for it (Mistral: 9 alphanumerics). */
export function upstreamCallId(id: string, pattern: RegExp | undefined): string {
  const own = plainToolId(id);
  if (!pattern || pattern.test(own)) return own;
  return createHash('sha256').update(own).digest('hex').slice(0, 9);
}
