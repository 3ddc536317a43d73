/** One message of a prompt template. */
export interface PromptMessage {
  role: 'system' | 'developer' | 'user' | 'assistant';
  /** Text, or parts as chat completions take them. */
  content: string | readonly Readonly<Record<string, unknown>>[];
}

export interface PromptVariable {
  name: string;
  type: 'string' | 'number' | 'boolean' | 'json';
  required: boolean;
  default?: unknown;
  description?: string;
}

/** The content of one version of a prompt template. It never changes. */
export interface PromptContent {
  messages: PromptMessage[];
  variables: PromptVariable[];
  /** Parameters of the request that it may override. */
  defaults: Record<string, unknown>;
  tools: unknown[] | null;
  response_format: Record<string, unknown> | null;
}

/**
 * Prompt templates and memories of an account, which requests name. Drivers: database in process; HTTP. Throws ApiError
 * `service_unavailable` where the lookup failed.
 */
export abstract class StoredContent {
  /**
   * A template by name or id: the published version, or the one named by number or id. null where there is none of
   * this account, it is archived, or nothing is published.
   */
  abstract template(
    accountId: string,
    name: string,
    version: string | number | null,
  ): Promise<PromptContent | null>;
  /** Texts of the newest memories of an end user, oldest of them first. */
  abstract memories(accountId: string, endUserHash: string, max: number): Promise<string[]>;
}
