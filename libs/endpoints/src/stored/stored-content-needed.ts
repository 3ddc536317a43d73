import { unknownField, type ErrorDetail, type PromptContent } from '@gateway/contracts';
import { isObject, type TextCaller } from '@gateway/dialects';
import { BodyFault, membersAsWritten, spelledLike, writeJson } from '@gateway/json-body';
import { renderPrompt } from '@gateway/prompts';
import { COMPOSERS } from './compose.js';

interface NamedTemplate {
  /** Name or id. */
  name: string;
  /** Number or id of a version; null = the published one. */
  version: string | number | null;
  variables: Readonly<Record<string, unknown>>;
}

interface NamedMemory {
  endUserId: string;
  maxItems: number;
}

type Value = Readonly<Record<string, unknown>>;

/** Most memories of one request. */
export const ITEMS_MAX = 64;
export const END_USER_ID_MAX = 512;
/** Characters of a template's name or id. */
export const NAME_MAX = 200;

/** Members of a body that name what the account keeps. */
const NAMING: ReadonlySet<string> = new Set(['template', 'variables', 'template_version', 'memory']);

/**
 * Result of `Endpoint.read` for a body that names a prompt template or memories. Whoever reads fetches them, and reads
 * the body that `compose` makes in its place.
 */
export class StoredContentNeeded {
  readonly template: NamedTemplate | null;
  readonly memory: NamedMemory | null;

  /** Throws the caller's own error where the members contradict each other or are of another form. */
  constructor(
    private readonly caller: TextCaller,
    private readonly value: Value,
  ) {
    this.template = this.readTemplate();
    this.memory = this.readMemory();
  }

  /** The body with its template and memories in it. Throws the caller's own error for variables that do not fit. */
  compose(content: PromptContent | null, memories: readonly string[]): Uint8Array {
    const named = Object.entries(this.value).filter(([name]) => !NAMING.has(name));
    const kept = spelledLike(Object.fromEntries(named), this.value);
    const composer = COMPOSERS.get(this.caller);
    if (composer === undefined) throw new TypeError('a text endpoint without a composer');
    const memory = memories.length === 0 ? null : memories.join('\n');
    if (content === null) return this.bytesOf(composer({ body: kept, prompt: [], memory }));
    const prompt = renderPrompt(content, this.template?.variables ?? {});
    const [first] = prompt;
    if (first !== undefined && 'loc' in first) this.refuse(first);
    const messages = prompt.flatMap((message) => ('loc' in message ? [] : [message]));
    const { defaults, tools, response_format } = content;
    const preset = membersAsWritten(defaults, () => false);
    const body = { ...preset, ...present({ tools, response_format }), ...kept };
    return this.bytesOf(composer({ body, prompt: messages, memory }));
  }

  private bytesOf(composed: Record<string, unknown> | BodyFault): Uint8Array {
    if (composed instanceof BodyFault) return this.refuse(composed.detail);
    return Buffer.from(writeJson(composed));
  }

  private readTemplate(): NamedTemplate | null {
    const { template, template_version: version, variables } = this.value;
    if (template == null) {
      if (variables != null) this.refuse(fault(['variables'], 'variables need a template.'));
      if (version != null) this.refuse(fault(['template_version'], 'template_version needs a template.'));
      return null;
    }
    if (typeof template !== 'string' || template === '' || template.length > NAME_MAX)
      this.refuse(fault(['template'], 'template must be the name of a template.'));
    if (variables != null && !isObject(variables))
      this.refuse(fault(['variables'], 'variables must be an object.'));
    if (version != null && !isVersion(version))
      this.refuse(fault(['template_version'], 'template_version must be the id or number of a version.'));
    return {
      name: String(template),
      version: isVersion(version) ? version : null,
      variables: isObject(variables) ? variables : {},
    };
  }

  private readMemory(): NamedMemory | null {
    const { memory } = this.value;
    if (memory == null) return null;
    if (!isObject(memory)) return this.refuse(fault(['memory'], 'memory must be an object.'));
    const { end_user_id: endUserId, max_items: maxItems = ITEMS_MAX, ...others } = memory;
    const [other] = Object.keys(others);
    if (other !== undefined)
      this.refuse(fault(['memory', other], unknownField(other, ['end_user_id', 'max_items'])));
    if (typeof endUserId !== 'string' || endUserId === '' || endUserId.length > END_USER_ID_MAX)
      return this.refuse(fault(['memory', 'end_user_id'], 'end_user_id must be a text.'));
    if (!Number.isInteger(maxItems) || Number(maxItems) < 1 || Number(maxItems) > ITEMS_MAX)
      this.refuse(fault(['memory', 'max_items'], `max_items must be 1 to ${ITEMS_MAX}.`));
    return { endUserId, maxItems: Number(maxItems) };
  }

  private refuse(detail: ErrorDetail): never {
    throw this.caller.bodyError(new BodyFault(detail));
  }
}

/** Returns what was read of a body that names nothing stored. Throws TypeError for any other. */
export function wholeBody<T>(read: T | StoredContentNeeded): T {
  if (read instanceof StoredContentNeeded) throw new TypeError('the body names stored content');
  return read;
}

function isVersion(value: unknown): value is string | number {
  if (typeof value === 'string') return value !== '' && value.length <= 100;
  return Number.isInteger(value) && Number(value) > 0;
}

function present(members: Value): Value {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function fault(loc: string[], msg: string): ErrorDetail {
  return { type: 'value_error', loc, msg };
}
