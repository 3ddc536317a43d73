import { jsonBody } from '@gateway/dialects';
import { PROVIDERS } from '../registry.generated.js';

function provider(slug: string): (typeof PROVIDERS)[number] {
  const found = PROVIDERS.find((one) => one.slug === slug);
  if (!found) throw new Error(`no provider ${slug}`);
  return found;
}

describe('providers that hear', () => {
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
    ['assemblyai', 400, { error: { code: 'invalid_recording', message: 'No speech.' } }, 'invalid_input'],
    ['assemblyai', 400, { error: 'Your current account balance is negative' }, 'upstream_error'],
  ])('%s with %i and %j means %s', (slug, status, body, code) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const signal = { kind: 'status', status, headers: {}, body: bytes, byok: false, nowMs: 0 } as const;
    const { options } = provider(slug).classify(signal);
    expect(options.code).toBe(code);
    // What is used up falls back, and says to nobody that the key is wrong.
    if (code === 'upstream_error') expect(options.fallback).toBe(true);
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
