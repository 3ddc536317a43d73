import { jsonBody } from '@gateway/dialects';
import { PROVIDERS } from '../registry.generated.js';

function provider(slug: string): (typeof PROVIDERS)[number] {
  const found = PROVIDERS.find((one) => one.slug === slug);
  if (!found) throw new Error(`no provider ${slug}`);
  return found;
}

describe('providers that hear and speak', () => {
  it.each([
    ['deepgram', 'https://api.deepgram.com/v1/a', 'authorization', 'Token secret'],
    ['elevenlabs', 'https://api.elevenlabs.io/a', 'xi-api-key', 'secret'],
    ['assemblyai', 'https://api.assemblyai.com/a', 'authorization', 'secret'],
  ])('%s is called at its address with its key', async (slug, url, header, value) => {
    const one = provider(slug);
    const access = { baseUrl: one.defaultBaseUrl, credential: { kind: 'api_key' as const, key: 'secret' } };
    const request = await one.prepare(jsonBody('/a', 'application/json', {}), access);
    expect(request).toMatchObject({ method: 'POST', url, headers: { [header]: value } });
  });

  it.each([
    ['deepgram', 402, { err_code: 'ASR_PAYMENT_REQUIRED', err_msg: 'No credit.' }, 'upstream_error'],
    ['deepgram', 400, { err_code: 'Bad Request', err_msg: 'corrupt or unsupported data' }, 'invalid_input'],
    ['deepgram', 429, { err_code: 'TOO_MANY_REQUESTS', err_msg: 'Slow down.' }, 'upstream_error'],
    ['elevenlabs', 401, { detail: { status: 'quota_exceeded', message: 'Used up.' } }, 'upstream_error'],
    ['elevenlabs', 400, { detail: { status: 'corrupted_audio', message: 'No.' } }, 'invalid_input'],
    ['elevenlabs', 422, { detail: [{ loc: ['body', 'file'], msg: 'field required' }] }, 'invalid_request'],
    [
      ...['elevenlabs', 402],
      { detail: { type: 'payment_required', code: 'insufficient_credits', message: 'Used up.' } },
      'upstream_error',
    ],
    [
      ...['elevenlabs', 429],
      { detail: { type: 'rate_limit_error', code: 'concurrent_limit_exceeded', message: 'Too many.' } },
      'upstream_error',
    ],
    ['elevenlabs', 404, { detail: { status: 'voice_not_found', message: 'No.' } }, 'unsupported_operation'],
    ['elevenlabs', 400, { detail: { code: 'invalid_voice_id', message: 'No.' } }, 'unsupported_operation'],
    [
      ...['elevenlabs', 401],
      { detail: { status: 'max_character_limit_exceeded', message: '627 characters.' } },
      'unsupported_operation',
    ],
    [
      ...['deepgram', 400],
      { err_code: 'Bad Request', err_msg: 'No such model/language/tier combination found.' },
      'unsupported_operation',
    ],
    ['deepgram', 401, { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' }, 'upstream_error'],
    ['xai', 400, { error: 'speed must be between 0.7 and 1.5' }, 'invalid_request'],
    ['xai', 404, { error: 'Voice nobody not found' }, 'unsupported_operation'],
    [
      ...['xai', 400],
      { code: 'invalid-argument', error: 'Incorrect API key provided: xa***.' },
      'upstream_error',
    ],
    ['assemblyai', 400, { error: { code: 'invalid_recording', message: 'No speech.' } }, 'invalid_input'],
    ['assemblyai', 400, { error: 'Your current account balance is negative' }, 'upstream_error'],
  ] as [string, number, object, string][])('%s with %i and %j means %s', (slug, status, body, code) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const signal = { kind: 'status', status, headers: {}, body: bytes, byok: false, nowMs: 0 } as const;
    const { options } = provider(slug).classify(signal);
    expect(options.code).toBe(code);
    // What is used up falls back, and says to nobody that the key is wrong; so does a voice that another may have.
    if (['upstream_error', 'unsupported_operation'].includes(code)) expect(options.fallback).toBe(true);
  });

  it.each([
    ['deepgram', { err_code: 'X', err_msg: 'The words of it.' }],
    ['elevenlabs', { detail: { status: 'x', message: 'The words of it.' } }],
    ['assemblyai', { error: 'The words of it.' }],
  ])('%s is quoted in its own words', (slug, body) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const signal = { kind: 'status', status: 400, headers: {}, body: bytes, byok: false, nowMs: 0 } as const;
    expect(provider(slug).classify(signal).options.message).toContain('The words of it.');
  });
});
