import {
  unknownField,
  type DetailType,
  type ErrorDetail,
  type PromptContent,
  type PromptMessage,
  type PromptVariable,
} from '@gateway/contracts';
import { isObject, spelledLike, withoutHidden, writeJson } from '@gateway/json-body';
import { placeholdersIn, VARIABLE_NAME } from './placeholders.js';
import { textOf } from './render-prompt.js';

/** A version as a caller sends it; only that these are lists and objects was checked. */
export interface PromptBody {
  messages: unknown[];
  variables?: unknown[] | null;
  defaults?: Record<string, unknown> | null;
  tools?: unknown[] | null;
  response_format?: Record<string, unknown> | null;
}

const ROLES: ReadonlySet<unknown> = new Set<PromptMessage['role']>([
  'system',
  'developer',
  'user',
  'assistant',
]);
const TYPES: ReadonlySet<unknown> = new Set<PromptVariable['type']>(['string', 'number', 'boolean', 'json']);
const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(['role', 'content']);
const VARIABLE_MEMBERS: ReadonlySet<string> = new Set(['name', 'type', 'required', 'default', 'description']);
/** Members that a request alone may set, or that the version has a member of its own for. */
const NOT_DEFAULTS: ReadonlySet<string> = new Set([
  'messages',
  'stream',
  'template',
  'template_version',
  'variables',
  'memory',
  'tools',
  'response_format',
]);
const BYTES_MAX = 262_144;
const VARIABLES_MAX = 100;

/** Faults of a version, for a 422; empty where there is none. */
export function promptFaults(body: PromptBody): ErrorDetail[] {
  const faults = [
    ...body.messages.flatMap(messageFaults),
    ...variableFaults(body.variables ?? []),
    ...Object.keys(body.defaults ?? {})
      .filter((name) => NOT_DEFAULTS.has(name))
      .map((name) => fault(['defaults', name], `${name} cannot be a default.`)),
    ...(body.tools ?? []).flatMap((tool, n) =>
      isObject(tool) ? [] : [fault(['tools', n], 'A tool is an object.')],
    ),
  ];
  if (faults.length === 0 && Buffer.byteLength(writeJson(body)) > BYTES_MAX)
    faults.push(fault(['messages'], `A version has at most ${BYTES_MAX} bytes.`));
  return faults;
}

function messageFaults(message: unknown, n: number): ErrorDetail[] {
  const at = ['messages', n];
  if (!isObject(message)) return [fault(at, 'A message is an object {role, content}.')];
  const faults = Object.keys(message)
    .filter((name) => !MESSAGE_MEMBERS.has(name))
    .map((name) => fault([...at, name], unknownField(name, MESSAGE_MEMBERS), 'unknown_field'));
  if (!ROLES.has(message.role))
    faults.push(fault([...at, 'role'], `role must be one of ${[...ROLES].join(', ')}.`));
  return [...faults, ...contentFaults(message.content, [...at, 'content'])];
}

function contentFaults(content: unknown, at: (string | number)[]): ErrorDetail[] {
  if (typeof content === 'string') return [];
  if (!Array.isArray(content) || content.length === 0)
    return [fault(at, 'content must be text, or parts of chat completions.')];
  return content.flatMap((part, n) =>
    isPart(part) ? [] : [fault([...at, n], 'A part is an object with a type.')],
  );
}

function isPart(part: unknown): boolean {
  return isObject(part) && typeof part.type === 'string';
}

function variableFaults(variables: readonly unknown[]): ErrorDetail[] {
  if (variables.length > VARIABLES_MAX) return [fault(['variables'], `At most ${VARIABLES_MAX} variables.`)];
  const names = new Set<unknown>();
  return variables.flatMap((variable, n) => {
    const at = ['variables', n];
    if (!isObject(variable)) return [fault(at, 'A variable is an object {name, type, required}.')];
    const found = oneVariableFaults(variable, at);
    if (names.has(variable.name)) found.push(fault([...at, 'name'], 'This name was declared before.'));
    names.add(variable.name);
    return found;
  });
}

function oneVariableFaults(variable: Record<string, unknown>, at: (string | number)[]): ErrorDetail[] {
  const { name, type = 'string', required = true, description } = variable;
  const faults = Object.keys(variable)
    .filter((member) => !VARIABLE_MEMBERS.has(member))
    .map((member) => fault([...at, member], unknownField(member, VARIABLE_MEMBERS), 'unknown_field'));
  if (typeof name !== 'string' || !VARIABLE_NAME.test(name))
    faults.push(fault([...at, 'name'], 'name must be letters, digits, - and _, and begin with no digit.'));
  if (!TYPES.has(type)) faults.push(fault([...at, 'type'], `type must be one of ${[...TYPES].join(', ')}.`));
  else if (
    variable.default != null &&
    textOf({ type: type as PromptVariable['type'] }, variable.default) === null
  )
    faults.push(fault([...at, 'default'], `default must be of type ${String(type)}.`));
  if (typeof required !== 'boolean')
    faults.push(fault([...at, 'required'], 'required must be true or false.'));
  if (description != null && (typeof description !== 'string' || description.length > 2_000))
    faults.push(fault([...at, 'description'], 'description must be a text.'));
  return faults;
}

/** The content of a version without faults. A placeholder that no variable declares is a required text. */
export function promptOf(body: PromptBody): PromptContent {
  const messages = body.messages as PromptMessage[];
  const variables = (body.variables ?? []).filter(isObject).map(variableOf);
  const declared = new Set(variables.map(({ name }) => name));
  for (const name of placeholdersIn(messages))
    if (!declared.has(name)) variables.push({ name, type: 'string', required: true });
  return {
    messages: messages.map(({ role, content }) => ({ role, content })),
    variables,
    defaults: body.defaults ?? {},
    tools: body.tools ?? null,
    response_format: body.response_format ?? null,
  };
}

function variableOf(sent: Record<string, unknown>): PromptVariable {
  const { name, type, required, description } = sent;
  const made: PromptVariable = {
    name: String(name),
    type: (type ?? 'string') as PromptVariable['type'],
    // With a default there is always a value.
    required: typeof required === 'boolean' ? required : sent.default == null,
    ...(sent.default == null ? {} : { default: sent.default }),
    ...(typeof description === 'string' ? { description } : {}),
  };
  // A number is kept as it was written.
  return withoutHidden(spelledLike(made, sent), () => false);
}

function fault(loc: (string | number)[], msg: string, type: DetailType = 'value_error'): ErrorDetail {
  return { type, loc, msg };
}
