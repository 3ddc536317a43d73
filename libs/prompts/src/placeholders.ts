import type { PromptMessage } from '@gateway/contracts';

export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_-]{0,63})\s*\}\}/g;

/** Names that stand in `{{…}}` in any text of the messages, in order. */
export function placeholdersIn(messages: readonly PromptMessage[]): string[] {
  const names = new Set<string>();
  filled(messages, (name) => {
    names.add(name);
    return '';
  });
  return [...names];
}

/** The messages with each `{{name}}` replaced once: what is put in is not looked at again. */
export function filled(
  messages: readonly PromptMessage[],
  valueOf: (name: string) => string,
): PromptMessage[] {
  return messages.map(({ role, content }) => ({
    role,
    content: filledValue(content, valueOf) as PromptMessage['content'],
  }));
}

function filledValue(value: unknown, valueOf: (name: string) => string): unknown {
  if (typeof value === 'string') return value.replaceAll(PLACEHOLDER, (_text, name: string) => valueOf(name));
  if (Array.isArray(value)) return value.map((item) => filledValue(item, valueOf));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, filledValue(member, valueOf)]),
  );
}
