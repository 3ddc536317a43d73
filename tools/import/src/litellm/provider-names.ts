/** Our provider for LiteLLM's name before the slash, where the two differ. */
const SLUGS: Readonly<Record<string, string>> = {
  azure_ai: 'azure',
  gemini: 'google',
  vertex_ai: 'google-vertex',
  bedrock: 'amazon-bedrock',
  bedrock_converse: 'amazon-bedrock',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  cohere_chat: 'cohere',
  moonshot: 'moonshotai',
  dashscope: 'alibaba',
  nvidia_nim: 'nvidia',
  meta_llama: 'meta',
  runwayml: 'runway',
  black_forest_labs: 'bfl',
  ollama_chat: 'ollama',
  hosted_vllm: 'vllm',
  openai_like: 'openai-compatible',
  custom_openai: 'openai-compatible',
  lm_studio: 'openai-compatible',
  llamafile: 'openai-compatible',
  litellm_proxy: 'openai-compatible',
};

/** Names of models that LiteLLM takes without a provider. */
const BARE: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|o\d|chatgpt-|text-embedding-|tts-|whisper-|dall-e)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^gemini/, 'vertex_ai'],
  [/^command/, 'cohere_chat'],
];

/** Formats of providers that speak several; all others are called in chat. */
const DIALECTS: Readonly<Record<string, string>> = {
  anthropic: 'messages',
  google: 'gemini',
  'google-vertex': 'gemini',
  cohere: 'cohere',
  ollama: 'ollama',
  'amazon-bedrock': 'converse',
};

/** Providers that run on servers of one's own: LiteLLM counts them free where no price is written. */
const SELF_HOSTED = new Set(['ollama', 'vllm', 'openai-compatible']);

export interface UpstreamName {
  /** LiteLLM's name of the provider; null for a bare name that is not known. */
  provider: string | null;
  model: string;
}

/** Splits `provider/model` as LiteLLM does. */
export function upstreamNameOf(model: string, customProvider: string | null): UpstreamName {
  if (customProvider !== null) {
    const rest = model.startsWith(`${customProvider}/`) ? model.slice(customProvider.length + 1) : model;
    return { provider: customProvider, model: rest };
  }
  const slash = model.indexOf('/');
  if (slash === -1) return { provider: BARE.find(([form]) => form.test(model))?.[1] ?? null, model };
  const [provider, rest] = [model.slice(0, slash), model.slice(slash + 1)];
  return { provider, model: provider === 'bedrock' ? rest.replace(/^(converse|invoke)\//, '') : rest };
}

export function slugOf(provider: string): string {
  return SLUGS[provider] ?? provider;
}

export function dialectOf(slug: string): string {
  return DIALECTS[slug] ?? 'chat';
}

export function isSelfHosted(slug: string): boolean {
  return SELF_HOSTED.has(slug);
}
