import type { Schemas } from '../api/schemas.js';
import type { Version } from './prompts.queries.js';

export type PromptRole = Version['messages'][number]['role'];
export type VariableType = Version['variables'][number]['type'];

export interface DraftMessage {
  role: PromptRole;
  text: string;
}

export interface DraftVariable {
  type: VariableType;
  /** Empty = the request must send it. */
  fallback: string;
}

/** A version as it is edited: texts, and what is known of each variable that they name. */
export interface PromptDraft {
  messages: readonly DraftMessage[];
  variables: Readonly<Record<string, DraftVariable>>;
  notes: string;
}

const VARIABLE = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;
const PLAIN: DraftVariable = { type: 'string', fallback: '' };

/** Variables in the order in which the texts name them first. */
export function variableNames(messages: readonly DraftMessage[]): string[] {
  return [...new Set(messages.flatMap(({ text }) => [...text.matchAll(VARIABLE)].map(([, name]) => name)))];
}

export function variableOf(draft: PromptDraft, name: string): DraftVariable {
  return draft.variables[name] ?? PLAIN;
}

/** Returns the start of the next version: the newest one, else an empty system and user message. */
export function draftOf(version: Version | undefined): PromptDraft {
  if (version === undefined) {
    return {
      messages: [
        { role: 'system', text: '' },
        { role: 'user', text: '' },
      ],
      variables: {},
      notes: '',
    };
  }
  return {
    messages: version.messages.map(({ role, content }) => ({ role, text: textOf(content) })),
    variables: Object.fromEntries(
      version.variables.map(({ name, type, default: fallback }) => [
        name,
        { type, fallback: fallback === undefined || fallback === null ? '' : asText(fallback) },
      ]),
    ),
    notes: '',
  };
}

/** Parts are edited as JSON, which is what they are sent as. */
export function textOf(content: Version['messages'][number]['content']): string {
  return asText(content);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the body with what is not edited here, tools and parameters, from the version that the draft began from. */
export function bodyOfDraft(
  draft: PromptDraft,
  from: Version | undefined,
): Schemas['CreateTemplateVersionBody'] {
  const variables = variableNames(draft.messages).map((name) => {
    const { type, fallback } = variableOf(draft, name);
    return fallback === ''
      ? { name, type, required: true }
      : { name, type, required: false, default: type === 'string' ? fallback : parsed(fallback) };
  });
  return {
    messages: draft.messages
      .filter(({ text }) => text.trim() !== '')
      .map(({ role, text }) => ({ role, content: partsOf(text) ?? text })),
    variables,
    ...(from === undefined ? {} : { defaults: from.defaults as Record<string, never> }),
    ...(from?.tools == null ? {} : { tools: from.tools }),
    ...(from?.response_format == null
      ? {}
      : { response_format: from.response_format as Record<string, never> }),
    ...(draft.notes.trim() === '' ? {} : { notes: draft.notes.trim() }),
  };
}

/** Parts of a message, where its text is a list of objects with a type. */
function partsOf(text: string): Record<string, unknown>[] | null {
  const value = text.startsWith('[{"') ? parsed(text) : null;
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : null;
}

/** Parses JSON; other text is sent as it is, and the gateway judges it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
