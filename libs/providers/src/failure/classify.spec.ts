import { jsonBody } from '@gateway/dialects';
import type { UpstreamError } from '@gateway/contracts';
import { PROVIDERS } from '../registry.generated.js';
import { TransportFailure, type TransportFault } from '../transport.js';
import type { FailureSignal } from './failure-signal.js';

function provider(slug: string) {
  const found = PROVIDERS.find((candidate) => candidate.slug === slug);
  if (!found) throw new Error(slug);
  return found;
}

function status(
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
  byok = false,
): FailureSignal {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'status', status: code, headers, body: Buffer.from(text), byok, nowMs: 0 };
}

const openai = (
  code: number,
  error: Record<string, unknown>,
  headers: Record<string, string> = {},
  byok = false,
): UpstreamError => provider('openai').classify(status(code, { error }, headers, byok));
const anthropic = (
  code: number,
  type: string,
  message = 'x',
  headers: Record<string, string> = {},
  byok = false,
): UpstreamError =>
  provider('anthropic').classify(status(code, { type: 'error', error: { type, message } }, headers, byok));

/** code / provider_code / status answered, then r = retry the route, f = fall back, b = counts for the breaker, a = alarm. */
function verdict({ options }: UpstreamError): string {
  const flags = `${options.retryable ? 'r' : ''}${options.fallback ? 'f' : ''}${options.countsAsFault ? 'b' : ''}${options.alarm ? 'a' : ''}`;
  return `${options.code}/${options.providerCode ?? ''}/${options.status ?? ''} ${flags}`.trim();
}

describe('what a failure of an OpenAI-type upstream means', () => {
  it.each([
    [
      'ERR-25',
      400,
      { code: 'context_length_exceeded', message: 'too long' },
      'context_window_exceeded/context_window_exceeded/',
    ],
    [
      'ERR-25',
      400,
      { message: "This model's maximum context length is 8192 tokens" },
      'context_window_exceeded/context_window_exceeded/',
    ],
    ...[413, 422].map((status): [string, number, Record<string, string>, string] => [
      'ERR-25',
      status,
      { message: 'prompt is too long' },
      'context_window_exceeded/context_window_exceeded/',
    ]),
    [
      'ERR-24',
      400,
      { code: 'content_policy_violation', message: 'no' },
      'content_policy_violation/content_policy_violation/',
    ],
    [
      'ERR-24',
      400,
      { code: 'content_filter', message: 'no' },
      'content_policy_violation/content_policy_violation/',
    ],
    ['ERR-27', 400, { code: 'invalid_image_format', message: 'no' }, 'invalid_input/invalid_input/400'],
    [
      'ERR-28',
      400,
      { code: 'unknown_parameter', message: 'Unknown parameter: foo' },
      'invalid_request/invalid_request/',
    ],
    [
      'ERR-28',
      400,
      { code: 'decimal_above_max_value', message: 'temperature' },
      'invalid_request/invalid_request/',
    ],
    [
      '',
      400,
      { code: 'unsupported_parameter', message: 'tools is not supported with this model' },
      'unsupported_operation/unsupported_operation/400 f',
    ],
    [
      'ERR-34',
      400,
      { code: 'unsupported_parameter', message: "'seed' is not supported with this model." },
      'unsupported_operation/unsupported_operation/400 f',
    ],
    [
      'ERR-34',
      400,
      { code: 'unsupported_value', message: "'stream' does not support true with this model." },
      'unsupported_operation/unsupported_operation/400 f',
    ],
    [
      'ERR-28',
      400,
      { code: 'unsupported_value', message: "'temperature' does not support 0.7 with this model." },
      'invalid_request/invalid_request/',
    ],
    [
      'ERR-32',
      404,
      { type: 'invalid_request_error', message: 'No such File object: file-x' },
      'resource_not_found/resource_not_found/',
    ],
    ['', 400, { code: 'model_not_found', message: 'gone' }, 'upstream_error/internal_provider_error/502 fba'],
    ['', 404, { code: 'model_not_found', message: 'gone' }, 'upstream_error/internal_provider_error/502 fba'],
    [
      '',
      404,
      { code: 'previous_response_not_found', message: 'gone' },
      'resource_not_found/resource_not_found/',
    ],
    [
      'ERR-62',
      401,
      { code: 'invalid_api_key', message: 'no' },
      'upstream_error/internal_provider_error/502 fba',
    ],
    ['ERR-62', 403, { message: 'country' }, 'upstream_error/internal_provider_error/502 fba'],
    [
      '',
      429,
      { code: 'insufficient_quota', message: 'no' },
      'upstream_error/internal_provider_error/503 fba',
    ],
    ['', 429, { code: 'rate_limit_exceeded', message: 'slow' }, 'upstream_error/rate_limit_exceeded/429 rf'],
    [
      'ERR-62',
      500,
      { type: 'server_error', message: 'oops' },
      'upstream_error/internal_provider_error/502 rfb',
    ],
    ['ERR-62', 502, { message: 'oops' }, 'upstream_error/internal_provider_error/502 rfb'],
    ...[400, 520].map((status): [string, number, Record<string, string>, string] => [
      'ERR-62',
      status,
      { type: 'server_error', message: 'oops' },
      'upstream_error/internal_provider_error/502 rfb',
    ]),
    [
      'ERR-63',
      503,
      { code: 'server_is_overloaded', message: 'busy' },
      'upstream_error/provider_overloaded/503 rfb',
    ],
    // OpenAI documents 503 as overload and sends it with the type of any failure of its own.
    [
      'ERR-18 ERR-63',
      503,
      { type: 'server_error', message: 'The server is currently overloaded with other requests.' },
      'upstream_error/provider_overloaded/503 rfb',
    ],
    ['ERR-50', 504, { message: 'late' }, 'gateway_timeout/provider_timeout/ rfb'],
  ])('%s %i %j', (_id, code, error, expected) => {
    expect(verdict(openai(code, error))).toBe(expected);
  });

  it('blames the account where its own provider key was used', () => {
    expect(verdict(openai(401, { code: 'invalid_api_key' }, {}, true))).toBe(
      'upstream_auth_error/invalid_auth/401 f',
    );
    expect(verdict(openai(403, { message: 'no access' }, {}, true))).toBe(
      'upstream_auth_error/permission_denied/403 f',
    );
    expect(verdict(openai(429, { code: 'insufficient_quota' }, {}, true))).toBe(
      'insufficient_credits/insufficient_credits/402 f',
    );
    const monthly = { code: 'insufficient_quota', message: 'You exceeded your monthly spend limit.' };
    expect(verdict(openai(429, monthly, {}, true))).toBe(
      'upstream_rate_limit_error/monthly_quota_exceeded/429 f',
    );
    expect(verdict(openai(429, { code: 'rate_limit_exceeded' }, {}, true))).toBe(
      'upstream_rate_limit_error/rate_limit_exceeded/429 rf',
    );
    expect(verdict(openai(404, { code: 'model_not_found' }, {}, true))).toBe(
      'model_not_found/model_not_found/ f',
    );
  });

  it('reads bodies that are no OpenAI envelope', () => {
    expect(
      verdict(
        provider('xai').classify(
          status(400, { code: 'invalid-argument', error: 'Incorrect API key provided: xa***' }),
        ),
      ),
    ).toBe('upstream_error/internal_provider_error/502 fba');
    expect(
      verdict(
        provider('mistral').classify(
          status(422, { detail: [{ loc: ['body'], msg: 'bad temperature', type: 'x' }] }),
        ),
      ),
    ).toBe('invalid_request/invalid_request/');
    expect(provider('mistral').classify(status(422, { detail: [{ msg: 'bad temperature' }] })).message).toBe(
      'Mistral: bad temperature',
    );
    expect(provider('openai').classify(status(502, '<html>inside 10.0.0.7</html>')).message).toBe(
      'OpenAI failed.',
    );
    expect(
      verdict(
        provider('deepseek').classify(
          status(401, { error: { code: 'invalid_request_error', message: 'Authentication Fails' } }),
        ),
      ),
    ).toBe('upstream_error/internal_provider_error/502 fba');
    expect(
      verdict(provider('deepseek').classify(status(402, { error: { message: 'Insufficient Balance' } }))),
    ).toBe('upstream_error/internal_provider_error/503 fba');
    expect(
      verdict(provider('openrouter').classify(status(429, { error: { code: 429, message: 'slow' } }))),
    ).toBe('upstream_error/rate_limit_exceeded/429 rf');
  });

  it.each([
    'organization_spend_limit_exceeded',
    'project_spend_limit_exceeded',
    'organization_usage_limit_exceeded',
  ])('ERR-47 takes %s for a cap of the month, though its type is that of an empty account', (code) => {
    const error = { type: 'insufficient_quota', code, message: 'The limit was reached.' };
    const capped = (byok: boolean): string =>
      verdict(provider('openai').classify(status(429, { error }, {}, byok)));
    expect(capped(true)).toBe('upstream_rate_limit_error/monthly_quota_exceeded/429 f');
    expect(capped(false)).toBe('upstream_error/internal_provider_error/503 fba');
  });
});

describe('what a failure of an Anthropic-type upstream means', () => {
  it.each([
    [
      'ERR-25',
      400,
      'invalid_request_error',
      'prompt is too long: 210000 tokens > 200000 maximum',
      'context_window_exceeded/context_window_exceeded/',
    ],
    [
      '',
      400,
      'invalid_request_error',
      'Your credit balance is too low',
      'upstream_error/internal_provider_error/503 fba',
    ],
    ['ERR-27', 400, 'invalid_request_error', 'Could not process image', 'invalid_input/invalid_input/400'],
    [
      'ERR-28',
      400,
      'invalid_request_error',
      'max_tokens: must be positive',
      'invalid_request/invalid_request/',
    ],
    [
      '',
      400,
      'invalid_request_error',
      "This model does not support effort level 'xhigh'.",
      'unsupported_operation/unsupported_operation/400 f',
    ],
    ['ERR-62', 401, 'authentication_error', 'no', 'upstream_error/internal_provider_error/502 fba'],
    ['ERR-62', 403, 'permission_error', 'no', 'upstream_error/internal_provider_error/502 fba'],
    ['', 404, 'not_found_error', 'model: claude-x', 'upstream_error/internal_provider_error/502 fba'],
    ['', 413, 'request_too_large', 'no', 'invalid_input/invalid_input/400'],
    ['ERR-63', 529, 'overloaded_error', 'busy', 'upstream_error/provider_overloaded/503 rfb'],
    ['ERR-62', 500, 'api_error', 'oops', 'upstream_error/internal_provider_error/502 rfb'],
    ['ERR-50', 504, 'timeout_error', 'late', 'gateway_timeout/provider_timeout/ rfb'],
  ])('%s %i %s %s', (_id, code, type, message, expected) => {
    expect(verdict(anthropic(code, type, message))).toBe(expected);
  });

  it('ERR-47 takes a 429 of a spend limit for a cap that waiting does not lift, by its code or its words', () => {
    const capped = (error: object, byok: boolean): string =>
      verdict(provider('anthropic').classify(status(429, { type: 'error', error }, {}, byok)));
    const details = { error_code: 'enforced_spend_limit_reached' };
    const named = { type: 'rate_limit_error', message: 'API usage is paused.', details };
    const worded = { type: 'rate_limit_error', message: 'You have reached the spend limit of your tier.' };
    for (const error of [named, worded]) {
      expect(capped(error, false)).toBe('upstream_error/internal_provider_error/503 fba');
      expect(capped(error, true)).toBe('upstream_rate_limit_error/monthly_quota_exceeded/429 f');
    }
  });

  it('ERR-48 takes a 429 for a throttle, with Retry-After or without', () => {
    expect(verdict(anthropic(429, 'rate_limit_error', 'slow', { 'retry-after': '3' }))).toBe(
      'upstream_error/rate_limit_exceeded/429 rf',
    );
    expect(anthropic(429, 'rate_limit_error', 'slow', { 'retry-after': '3' }).options.retryAfterMs).toBe(
      3_000,
    );
    expect(verdict(anthropic(429, 'rate_limit_error', 'slow'))).toBe(
      'upstream_error/rate_limit_exceeded/429 rf',
    );
    // Only its words name a cap that waiting does not lift.
    expect(verdict(anthropic(429, 'rate_limit_error', 'You have reached your monthly usage limit.'))).toBe(
      'upstream_error/internal_provider_error/503 fba',
    );
  });

  it.each([400, 402, 403, 429])('ERR-48 takes a caller’s own monthly cap for one, with status %i', (code) => {
    const said = 'You have reached your monthly usage limit.';
    expect(verdict(anthropic(code, 'billing_error', said, {}, true))).toBe(
      'upstream_rate_limit_error/monthly_quota_exceeded/429 f',
    );
  });

  it('judges an error inside a stream as if it were its status', () => {
    const inBand = (type: string): FailureSignal => ({
      kind: 'stream',
      byok: false,
      failure: {
        kind: 'in_band',
        body: { type: 'error', error: { type, message: 'm' } },
        status: null,
        message: 'm',
      },
    });
    expect(verdict(provider('anthropic').classify(inBand('overloaded_error')))).toBe(
      'upstream_error/provider_overloaded/503 rfb',
    );
    expect(verdict(provider('anthropic').classify(inBand('rate_limit_error')))).toBe(
      'upstream_error/rate_limit_exceeded/429 rf',
    );
  });
});

describe.each(PROVIDERS.map((candidate) => [candidate.slug, candidate] as const))(
  'every provider: %s',
  (_slug, candidate) => {
    it('EDGE-05 puts the platform credential into a header and nowhere else', async () => {
      const { url, headers } = await candidate.prepare(jsonBody('/any/path', 'application/json', {}), {
        baseUrl: 'http://127.0.0.1:9/v1',
        credential: { kind: 'api_key', key: 'the-credential' },
      });
      expect(url.startsWith('http://127.0.0.1:9/v1/')).toBe(true);
      expect(url.endsWith('/any/path')).toBe(true);
      expect(url).not.toContain('the-credential');
      expect(Object.values(headers).filter((value) => value.includes('the-credential'))).toHaveLength(1);
      expect(new URL(candidate.defaultBaseUrl).protocol).toMatch(/^https?:$/);
    });

    it.each<[string, TransportFault, string]>([
      ['ERR-61', 'connect', 'upstream_error/connection_error/502 rfb'],
      ['ERR-61', 'reset', 'upstream_error/connection_error/502 rfb'],
      ['ERR-50', 'timeout_connect', 'gateway_timeout/provider_timeout/ rfb'],
      ['ERR-50', 'timeout_first_byte', 'gateway_timeout/provider_timeout/ rfb'],
      ['ERR-50', 'timeout_idle', 'gateway_timeout/provider_timeout/ rfb'],
      ['ERR-60', 'too_large', 'upstream_error/bad_response/502 fb'],
      ['', 'aborted', 'upstream_error/connection_error/502'],
    ])('%s transport fault %s', (_id, fault, expected) => {
      expect(
        verdict(candidate.classify({ kind: 'transport', failure: new TransportFailure(fault), byok: false })),
      ).toBe(expected);
    });

    it('ERR-60 calls an unreadable 200 a bad response', () => {
      expect(
        verdict(candidate.classify({ kind: 'bad_response', message: 'the body is not JSON', byok: false })),
      ).toBe('upstream_error/bad_response/502 fb');
    });

    it('ERR-08 ERR-09 ERR-10 names the provider and lets no credential or resource id through', () => {
      const planted = [
        'sk-proj-abcdefghijklmnop1234',
        'AIzaSyA1234567890abcdefghijk',
        'AKIAIOSFODNN7EXAMPLE',
        'Bearer abc.def.ghi123456',
        'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
        'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x',
        'projects/my-secret-project/locations/us',
        'org-AbCdEfGhIjKl',
        'someone@example.com',
        'https://inside.example.com/x?token=abc',
        'qT7xK2mP9vL4nR8wZ3bY6cJ1dF5gH0sA',
      ];
      for (const secret of planted) {
        const { message } = candidate.classify(
          status(400, { error: { message: `It failed for ${secret} today` } }),
        );
        expect(message).toContain(candidate.name);
        expect(message).not.toContain(secret);
        expect(message).toContain('It failed for');
      }
    });
  },
);
