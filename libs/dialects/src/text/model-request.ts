import type { ParsedBody } from '@gateway/json-body';

/** The time for which a cache marker asks the provider to store the prefix. */
export interface CacheMarker {
  ttl: '5m' | '1h';
}

export type MediaSource =
  | { kind: 'base64'; mediaType: string; data: string }
  | { kind: 'url'; url: string }
  | { kind: 'file'; fileId: string };

export interface TextPart {
  type: 'text';
  text: string;
  cache?: CacheMarker;
}
export interface ImagePart {
  type: 'image';
  source: MediaSource;
  detail?: string;
  cache?: CacheMarker;
}
interface AudioPart {
  type: 'audio';
  format: string;
  data: string;
}
export interface DocumentPart {
  type: 'document';
  source: MediaSource | { kind: 'text'; text: string };
  title?: string;
  /** Note of the caller on it: for the model to know, not to cite. */
  context?: string;
  cache?: CacheMarker;
}
interface RefusalPart {
  type: 'refusal';
  text: string;
}
/** Reasoning of an earlier turn. `signature` was minted by `format`'s family and is only sent back to it. */
interface ReasoningPart {
  type: 'reasoning';
  text: string;
  signature?: string;
  format?: string;
}
/** Reasoning that only its provider can read. */
interface OpaqueReasoningPart {
  type: 'opaque_reasoning';
  data: string;
  format?: string;
}
export interface ToolCallPart {
  type: 'tool_call';
  id: string;
  name: string;
  /** JSON text of an object; for a custom tool the raw input text. */
  arguments: string;
  custom?: boolean;
  /** Position of the caller's message, for refusals; absent where it is that of the turn. */
  message?: number;
  /** Google's signature of the call, where the caller sent it beside the call and not in its id. */
  signature?: string;
  cache?: CacheMarker;
}
export interface ToolResultPart {
  type: 'tool_result';
  toolCallId: string;
  parts: (TextPart | ImagePart | DocumentPart)[];
  isError: boolean;
  cache?: CacheMarker;
}

export type Part =
  | TextPart
  | ImagePart
  | AudioPart
  | DocumentPart
  | RefusalPart
  | ReasoningPart
  | OpaqueReasoningPart
  | ToolCallPart
  | ToolResultPart;

/**
 * One turn. A `tool` turn holds tool_result parts only. Whatever the caller's dialect, it stands between the assistant
 * turn that asked and the next user turn.
 */
export interface Turn {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  parts: Part[];
  name?: string;
}

export interface Tool {
  name: string;
  description?: string;
  /** JSON Schema of the arguments; absent = an object without properties. */
  parameters?: Record<string, unknown>;
  strict?: boolean;
  /** Free-text input instead of JSON arguments (OpenAI custom tools). */
  custom?: { format?: unknown };
  cache?: CacheMarker;
}

export type ToolChoice =
  | { mode: 'auto' | 'none' | 'required' }
  | { mode: 'named'; name: string }
  | { mode: 'allowed'; required: boolean; names: string[] };

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface ReasoningRequest {
  effort: Effort | null;
  maxTokens: number | null;
  /** True leaves reasoning out of the answer. */
  exclude: boolean;
}

export type ResponseFormat =
  | { kind: 'text' }
  | { kind: 'json_object' }
  | {
      kind: 'json_schema';
      name: string;
      schema: Record<string, unknown> | null;
      strict: boolean | null;
      description?: string;
    };

/** Sampling and the like: null = not sent. */
interface Sampling {
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  seed: number | null;
  frequencyPenalty: number | null;
  presencePenalty: number | null;
}

/** A feature that a route must have, or it is no candidate. */
export type Capability =
  | 'tools'
  | 'custom_tools'
  | 'image_input'
  | 'audio_input'
  | 'document_input'
  | 'json_schema'
  | 'choices'
  | 'logprobs'
  | 'logit_bias'
  | 'audio_output'
  | 'prediction'
  | 'web_search'
  | 'reasoning_budget'
  | 'reasoning'
  /** Members that only the caller's own dialect can carry, for example server tools of messages. */
  | 'same_dialect';

export interface RequiredCapability {
  capability: Capability;
  /** Member of the body that asks for it, as the caller wrote it: named in the refusal. */
  param: string;
  /** Value that the caller wrote, where the member alone says too little: the type of a tool. */
  value?: string;
}

/** A file of the caller that a part names instead of holding it. */
export interface FileReference {
  id: string;
  /** Member of the body that names it. */
  param: string;
}

/**
 * A request in the middle form: every caller's format decodes to it, every upstream encodes from it.
 * Never translated pairwise. Immutable: every attempt starts from it.
 */
export interface ModelRequest {
  /** The caller's dialect. */
  dialect: string;
  /** Name as the caller wrote it; null = the key's default model. */
  model: string | null;
  stream: boolean;
  turns: Turn[];
  tools: Tool[];
  toolChoice: ToolChoice | null;
  parallelToolCalls: boolean | null;
  maxOutputTokens: number | null;
  sampling: Sampling;
  stop: string[];
  /** `n`. */
  choices: number;
  responseFormat: ResponseFormat | null;
  reasoning: ReasoningRequest | null;
  serviceTier: 'auto' | 'default' | 'flex' | null;
  /** safety_identifier, else user; metadata.user_id on messages. */
  endUser: string | null;
  requires: RequiredCapability[];
  /** Files that stand for what a provider is to see: an upstream is asked once their bytes stand in the body. */
  files: FileReference[];
  /** The parameter that names an object at a provider, such as a container: nothing says whose it is. Absent for none. */
  atProvider?: string;
  /** Feature that a provider bills apart and that has no price here: a tool that makes images. Absent for none. */
  unpriced?: { param: string; value: string };
  /** The first unknown member that names an object at a provider: only routes that are sent it refuse it. */
  unknownAtProvider?: string;
  /** Hints by the caller's own parameter names; routes that cannot honour one report it as ignored. */
  hints: Record<string, unknown>;
  /** chat only: stream_options.include_usage, which decides `usage: null` on the other chunks. */
  includeUsage: boolean;
  /** chat only: the caller used functions/function_call, and gets function_call back. */
  legacyFunctions: boolean;
  /** Unknown top-level members: accepted, forwarded only where the provider passes parameters through. */
  unknown: Record<string, unknown>;
  /** Sizes for the estimate: UTF-8 bytes of all text, tool arguments, results, definitions and schemas. */
  sizes: {
    textBytes: number;
    images: number;
    audioSeconds: number;
    documentBytes: number[];
    /** Size that upstreams of the caller's own dialect add to the text; absent for none. */
    nativeBytes?: number;
  };
  /**
   * The caller's own names of members that the middle form calls otherwise, for refusals and reports. `thoughts`: the
   * reasoning of earlier turns.
   */
  callerNames: { stop: string; endUser: string; reasoning: string; thoughts: string };
  /** Headers of the caller that only an upstream of its own dialect is sent, in lower case. */
  nativeHeaders: Readonly<Record<string, string>>;
  /** Flags of `anthropic-beta` newer than this release: only the provider that makes the dialect is sent them. */
  newBetas?: readonly string[];
  /** Body of the caller; never changed. */
  body: ParsedBody;
}
