import type { PromptMessage } from '@gateway/contracts';
import { isObject, textChat, textMessages, textResponses, type TextCaller } from '@gateway/dialects';
import { BodyFault } from '@gateway/json-body';

/** A body without the members that name stored content, and what they stand for. */
interface Composition {
  body: Readonly<Record<string, unknown>>;
  prompt: readonly PromptMessage[];
  /** Goes before everything else as one system message. */
  memory: string | null;
}

type Composed = Record<string, unknown> | BodyFault;
type Composer = (composition: Composition) => Composed;

/**
 * Ways in which each caller's format puts messages before its own. What is not right in the body itself is its reader's
 * to say.
 */
export const COMPOSERS: ReadonlyMap<TextCaller, Composer> = new Map<TextCaller, Composer>([
  [textChat.caller, composeChat],
  [textMessages.caller, composeMessages],
  [textResponses.caller, composeResponses],
]);

function composeChat({ body, prompt, memory }: Composition): Composed {
  const before = [...systemMessage(memory), ...prompt];
  const { messages } = body;
  if (messages === undefined && prompt.length > 0) return { ...body, messages: before };
  return Array.isArray(messages)
    ? { ...body, messages: [...before, ...(messages as unknown[])] }
    : { ...body };
}

function composeMessages({ body, prompt, memory }: Composition): Composed {
  const fault = foreignMember(body, prompt);
  if (fault) return fault;
  const systems = [...systemMessage(memory), ...prompt].filter(isSystem).map(textOf);
  const turns = prompt.filter((message) => !isSystem(message)).map((message) => plain(message));
  const { system, messages } = body;
  const blocks = systems.map((text) => ({ type: 'text', text }));
  const own = typeof system === 'string' ? [{ type: 'text', text: system }] : system;
  const composed: Record<string, unknown> = { ...body };
  if (blocks.length > 0 && (own == null || Array.isArray(own)))
    composed.system = [...blocks, ...((own ?? []) as unknown[])];
  if (messages === undefined && turns.length > 0) composed.messages = turns;
  if (Array.isArray(messages)) composed.messages = [...turns, ...(messages as unknown[])];
  return composed;
}

function composeResponses({ body, prompt, memory }: Composition): Composed {
  const fault = foreignMember(body, prompt);
  if (fault) return fault;
  const before = [...systemMessage(memory), ...prompt].map((message) => plain(message));
  const { input } = body;
  if (before.length === 0) return { ...body };
  if (input === undefined) return prompt.length > 0 ? { ...body, input: before } : { ...body };
  const own = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  return Array.isArray(own) ? { ...body, input: [...before, ...(own as unknown[])] } : { ...body };
}

function systemMessage(text: string | null): PromptMessage[] {
  return text === null ? [] : [{ role: 'system', content: text }];
}

function isSystem({ role }: PromptMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** Returns a fault for members of templates that the form of chat completions has and other formats write otherwise. */
function foreignMember(body: Composition['body'], prompt: readonly PromptMessage[]): BodyFault | null {
  const parts = prompt.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const isForeign =
    parts.some(({ type, text }) => type !== 'text' || typeof text !== 'string') ||
    (prompt.length > 0 && isObject(body.response_format)) ||
    (prompt.length > 0 && Array.isArray(body.tools) && body.tools.some(isChatTool));
  if (!isForeign) return null;
  const msg = 'The template holds parts, tools or a response format that only chat completions take.';
  return new BodyFault({ type: 'value_error', loc: ['template'], msg });
}

function isChatTool(tool: unknown): boolean {
  return isObject(tool) && isObject(tool.function);
}

function plain(message: PromptMessage): { role: string; content: string } {
  return { role: message.role, content: textOf(message) };
}

function textOf({ content }: PromptMessage): string {
  return typeof content === 'string' ? content : content.map(({ text }) => String(text)).join('\n');
}
