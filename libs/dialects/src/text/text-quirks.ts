export {};

declare module '../translation/translation.js' {
  /** A provider's habits over the text dialects. */
  interface Quirks {
    /** Name of the output limit: OpenAI takes max_completion_tokens, many others only max_tokens. */
    maxTokensParam?: 'max_completion_tokens' | 'max_tokens';
    /** Most stop sequences of one request. Default 4, as OpenAI. */
    stopMax?: number;
    /** Least and largest temperature, where its scale is shorter than OpenAI's 0 to 2. */
    temperatures?: readonly [number, number];
    /** Send stream_options.include_usage on streams. Default true. */
    includeUsageOption?: boolean;
    /** Mistral: `any` for `required`. */
    requiredToolChoice?: 'required' | 'any';
    /** Mistral: random_seed. */
    seedParam?: string;
    /** Form in which `reasoning` is requested: default reasoning_effort; OpenRouter-like: a `reasoning` object. */
    reasoningParam?: 'reasoning_effort' | 'reasoning' | 'none';
    /** Reasoning tokens come on top of completion_tokens (xAI). */
    usageExcludesReasoning?: boolean;
    /** Tool call ids must match; others are replaced by a stable substitute. */
    toolCallIdPattern?: RegExp;
    /**
     * Reasoning of earlier assistant turns is sent back as this member. `both`: as reasoning and as reasoning_content, of which
     * servers of different ages read one. `text_details`: text alone as reasoning_details, too (MiniMax).
     */
    returnsReasoning?: 'reasoning_content' | 'reasoning' | 'both' | 'reasoning_details' | 'text_details';
    /** reasoning_content goes back also of turns without calls; DeepSeek refuses that, and hosts leave it to the model. */
    returnsAllReasoning?: boolean;
    systemRole?: 'system' | 'developer';
    /** Responses: parts of the input may end a prefix that is kept (`prompt_cache_breakpoint`); others refuse them. */
    cacheBreakpoints?: boolean;
    /**
     * True if answers carry a top-level cache_creation_input_tokens (spec, usage rule 5: one cloud provider's route).
     */
    deprecatedCacheKey?: boolean;
    /**
     * Messages: the path names the model and whether it streams, and the body the version (Claude at a cloud). `betas`: what
     * the cloud takes of the flags in anthropic-beta; it refuses a request with any other.
     */
    messagesPlace?: {
      version: string;
      path: (upstreamModel: string, isStream: boolean) => string;
      betas: RegExp;
    };
  }
}
