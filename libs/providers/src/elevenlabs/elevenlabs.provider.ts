import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'elevenlabs',
  name: 'ElevenLabs',
  dialects: ['elevenlabs-transcriptions'],
  credentialEnv: 'ELEVENLABS_API_KEY',
  baseUrlEnv: 'ELEVENLABS_BASE_URL',
  defaultBaseUrl: 'https://api.elevenlabs.io',
  check: { path: '/v1/user' },
  headersOf: (key) => ({ 'xi-api-key': key }),
  rules: [
    // What is used up answers like a wrong key.
    { names: ['quota_exceeded'], verdict: 'quota' },
    { names: ['too_many_concurrent_requests', 'system_busy'], verdict: 'rate' },
    { names: ['invalid_api_key', 'needs_authorization'], verdict: 'auth' },
    {
      names: ['invalid_content', 'invalid_audio', 'audio_too_short', 'corrupted_audio'],
      verdict: 'invalid_input',
    },
  ],
});
