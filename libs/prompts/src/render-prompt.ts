import { numberText, writeJson } from '@gateway/json-body';
import type {
  ErrorDetail,
  PromptContent,
  PromptMessage,
  PromptVariable,
  DetailType,
} from '@gateway/contracts';
import { filled } from './placeholders.js';

/** The messages with their variables filled in, or a fault for each variable that is missing, unknown or of another type. */
export function renderPrompt(
  { messages, variables }: Pick<PromptContent, 'messages' | 'variables'>,
  sent: Readonly<Record<string, unknown>>,
): PromptMessage[] | ErrorDetail[] {
  const declared = new Map(variables.map((variable) => [variable.name, variable]));
  const faults: ErrorDetail[] = Object.keys(sent)
    .filter((name) => !declared.has(name))
    .map((name) => fault('unknown_field', name, 'The template has no such variable.'));
  const texts = new Map<string, string>();
  for (const variable of variables) {
    const { name } = variable;
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
    const written = value == null ? numberText(variable, 'default') : numberText(sent, name);
    const read = textOf(variable, value ?? variable.default ?? null);
    const text = variable.type === 'number' ? (written ?? read) : read;
    if (text !== null) texts.set(name, text);
    else if (value !== undefined && value !== null)
      faults.push(fault('wrong_type', name, `${name} must be of type ${variable.type}.`));
    else if (variable.required) faults.push(fault('missing', name, 'field required'));
  }
  return faults.length > 0 ? faults : filled(messages, (name) => texts.get(name) ?? '');
}

/** Returns the text of a value of the variable's type; null for a value of another type. */
export function textOf({ type }: Pick<PromptVariable, 'type'>, value: unknown): string | null {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : null;
    case 'number':
    case 'boolean':
      return typeof value === type ? String(value) : null;
    case 'json':
      return value === null || value === undefined ? null : writeJson(value);
  }
}

function fault(type: DetailType, name: string, msg: string): ErrorDetail {
  return { type, loc: ['variables', name], msg };
}
