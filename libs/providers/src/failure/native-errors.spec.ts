import type { UpstreamError } from '@gateway/contracts';
import { PROVIDERS } from '../registry.generated.js';

function failed(
  slug: string,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): UpstreamError {
  const provider = PROVIDERS.find((one) => one.slug === slug);
  if (!provider) throw new Error(slug);
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return provider.classify({ kind: 'status', status, headers, body: bytes, byok: false, nowMs: 0 });
}

const google = (status: number, name: string, message: string, details: unknown[] = []) => [
  'google' as const,
  status,
  { error: { code: status, status: name, message, details } },
  {} as Record<string, string>,
];
const bedrock = (status: number, type: string, message: string) => [
  'amazon-bedrock' as const,
  status,
  { message },
  { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` } as Record<string, string>,
];

/** Builds a failure whose metadata holds the error of the provider behind it, unchanged. */
const openrouter = (code: number, raw: unknown) => [
  'openrouter' as const,
  code,
  { error: { code, message: 'Provider returned error', metadata: { provider_name: 'Secret Host', raw } } },
  {} as Record<string, string>,
];

/** Failures of each provider, with bodies as they send them, and the verdict on each. */
const ROWS: [string, ReturnType<typeof google> | ReturnType<typeof bedrock> | unknown[], string][] = [
  [
    'a wrong key of Google is a 400',
    google(400, 'INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }]),
    'upstream_error internal_provider_error',
  ],
  [
    'a prompt too long for Gemini',
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    'context_window_exceeded context_window_exceeded',
  ],
  [
    'a region that Google does not serve',
    google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
    'upstream_error internal_provider_error',
  ],
  [
    'a model that Google does not have',
    google(404, 'NOT_FOUND', 'models/x is not found for API version v1beta'),
    'upstream_error internal_provider_error',
  ],
  [
    'a minute’s quota of Google',
    google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [
      { violations: [{ quotaId: 'GenerateRequestsPerMinutePerProject' }] },
      { retryDelay: '34.4s' },
    ]),
    'upstream_error rate_limit_exceeded',
  ],
  [
    'a day’s quota of Google',
    google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [
      { violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }] },
    ]),
    'upstream_error internal_provider_error',
  ],
  [
    'Google at capacity',
    google(503, 'UNAVAILABLE', 'The model is overloaded.'),
    'upstream_error provider_overloaded',
  ],
  ['Google out of time', google(504, 'DEADLINE_EXCEEDED', 'Deadline.'), 'gateway_timeout provider_timeout'],
  [
    'a prompt too long for Bedrock',
    bedrock(400, 'ValidationException', 'Input is too long for requested model.'),
    'context_window_exceeded context_window_exceeded',
  ],
  [
    'a model that Bedrock does not have',
    bedrock(400, 'ValidationException', 'The provided model identifier is invalid.'),
    'upstream_error internal_provider_error',
  ],
  [
    'a feature that a model on Bedrock lacks',
    bedrock(400, 'ValidationException', "This model doesn't support tool use."),
    'unsupported_operation unsupported_operation',
  ],
  [
    'another wrong request to Bedrock',
    bedrock(400, 'ValidationException', 'messages.0.content is required'),
    'invalid_request invalid_request',
  ],
  [
    'a throttle of Bedrock',
    bedrock(429, 'ThrottlingException', 'Too many requests'),
    'upstream_error rate_limit_exceeded',
  ],
  [
    'a model of Bedrock that warms up',
    bedrock(429, 'ModelNotReadyException', 'Not ready'),
    'upstream_error provider_overloaded',
  ],
  [
    'a quota of Bedrock',
    bedrock(400, 'ServiceQuotaExceededException', 'Quota'),
    'upstream_error internal_provider_error',
  ],
  [
    'a model of Bedrock that failed',
    bedrock(424, 'ModelErrorException', 'Failed'),
    'upstream_error internal_provider_error',
  ],
  [
    'a model of Bedrock that took too long',
    bedrock(408, 'ModelTimeoutException', 'Slow'),
    'gateway_timeout provider_timeout',
  ],
  [
    'a prompt too long for Cohere',
    [
      'cohere',
      400,
      { message: 'too many tokens: total number of tokens in the prompt exceeds the limit' },
      {},
    ],
    'context_window_exceeded context_window_exceeded',
  ],
  [
    'a trial key of Cohere',
    ['cohere', 429, { message: 'You are using a Trial key, which is limited to 20 API calls / minute.' }, {}],
    'upstream_error internal_provider_error',
  ],
  [
    'a blocked key of Cohere',
    ['cohere', 498, { message: 'blocked token' }, {}],
    'upstream_error internal_provider_error',
  ],
  [
    'a model that Ollama has not pulled',
    ['ollama', 404, { error: 'model "x" not found, try pulling it first' }, {}],
    'upstream_error internal_provider_error',
  ],
  [
    'tools for a model of Ollama without them',
    ['ollama', 400, { error: 'x does not support tools' }, {}],
    'unsupported_operation unsupported_operation',
  ],
  [
    'a filter of Azure',
    ['azure', 400, { error: { code: 'content_filter', message: 'filtered' } }, {}],
    'content_policy_violation content_policy_violation',
  ],
  [
    'an image file that OpenAI cannot read',
    [
      'openai',
      400,
      { error: { code: 'invalid_image_file', type: 'image_generation_user_error', message: 'no' } },
      {},
    ],
    'invalid_input invalid_input',
  ],
  [
    'a prompt that OpenAI flags',
    [
      'openai',
      400,
      {
        error: {
          code: 'invalid_prompt',
          message: 'your prompt was flagged as potentially violating our usage policy',
        },
      },
      {},
    ],
    'content_policy_violation content_policy_violation',
  ],
  [
    'a prompt and an answer too long together for Claude on Bedrock',
    bedrock(
      400,
      'ValidationException',
      'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000',
    ),
    'context_window_exceeded context_window_exceeded',
  ],
  [
    'a prompt too long for DeepSeek',
    [
      'deepseek',
      400,
      {
        error: {
          message:
            "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
          type: 'invalid_request_error',
          code: 'invalid_request_error',
        },
      },
      {},
    ],
    'context_window_exceeded context_window_exceeded',
  ],
  [
    'a prompt too long for xAI',
    [
      'xai',
      400,
      {
        code: 'c',
        error: "This model's maximum prompt length is 131072 but the request contains 190000 tokens.",
      },
      {},
    ],
    'context_window_exceeded context_window_exceeded',
  ],
  [
    'a prompt too long for a provider behind OpenRouter',
    openrouter(
      400,
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}',
    ),
    'context_window_exceeded context_window_exceeded',
  ],
  [
    'a filter of a provider behind OpenRouter',
    openrouter(400, { error: { code: 'content_filter', message: 'filtered' } }),
    'content_policy_violation content_policy_violation',
  ],
  [
    'a deployment that Azure does not have',
    ['azure', 404, { error: { code: 'DeploymentNotFound', message: 'none' } }, {}],
    'upstream_error internal_provider_error',
  ],
];

describe('what a provider’s own error means', () => {
  it.each(ROWS)('%s', (_name, row, expected) => {
    const { code, providerCode } = failed(...(row as Parameters<typeof failed>)).options;
    expect(`${code} ${providerCode}`).toBe(expected);
  });

  it('in the words of a provider behind OpenRouter, and not of the host that it names', () => {
    const words = 'google/x is temporarily rate-limited upstream. Please retry shortly.';
    const [slug, status, body] = openrouter(429, words);
    const { code, providerCode, message } = failed(slug as string, status as number, body).options;
    expect([code, providerCode]).toEqual(['upstream_error', 'rate_limit_exceeded']);
    expect(message).toBe(`OpenRouter: ${words}`);
    const [, , silent] = openrouter(502, '<html>Secret Host</html>');
    expect(failed('openrouter', 502, silent).options.message).toBe('OpenRouter: Provider returned error');
  });

  it.each([
    ['image_too_small', 'invalid_input'],
    ['invalid_image_mode', 'invalid_input'],
    ['image_file_too_large', 'invalid_input'],
    ['empty_image_file', 'invalid_input'],
    ['failed_to_download_image', 'invalid_input'],
    ['image_file_not_found', 'invalid_input'],
    ['invalid_image', 'invalid_input'],
    ['bio_policy', 'content_policy_violation'],
    ['misalignment_policy_violation', 'content_policy_violation'],
    ['image_content_policy_violation', 'content_policy_violation'],
    ['data_residency_mismatch', 'invalid_request'],
    ['invalid_prompt', 'invalid_request'],
    ['server_error', 'upstream_error'],
    ['vector_store_timeout', 'upstream_error'],
  ])('RESP-01 a response of OpenAI that failed with %s is %s', (name, code) => {
    const openai = PROVIDERS.find(({ slug }) => slug === 'openai');
    const body = { code: name, message: 'no' };
    const failure = { kind: 'in_band', body, status: null, message: 'no' } as const;
    expect(openai?.classify({ kind: 'stream', failure, byok: false }).options.code).toBe(code);
  });

  it('Google’s RetryInfo says when to come back', () => {
    const [slug, status, body] = google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [
      { retryDelay: '34.4s' },
    ]);
    expect(failed(slug as string, status as number, body).options.retryAfterMs).toBe(34_400);
  });

  it.each(PROVIDERS.map(({ slug }) => slug))(
    'ERR-10 %s: no id, key or address of ours leaves in a message',
    (slug) => {
      const secrets = [
        'arn:aws:iam::123456789012:user/x',
        'sk-live-abcdefghijkl',
        'AIzaSyAbcdefghijklmn',
        'projects/our-project/locations/eu',
        'ops@our.example',
        'AKIAABCDEFGHIJKLMNOP',
      ];
      const { message } = failed(slug, 400, { error: { message: `no: ${secrets.join(' | ')}` } });
      for (const secret of secrets) expect(message).not.toContain(secret);
    },
  );
});
