import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'elevenlabs',
  name: 'ElevenLabs',
  dialects: ['elevenlabs-transcriptions', 'elevenlabs-speech'],
  credentialEnv: 'ELEVENLABS_API_KEY',
  baseUrlEnv: 'ELEVENLABS_BASE_URL',
  defaultBaseUrl: 'https://api.elevenlabs.io',
  check: { path: '/v1/user' },
  headersOf: (key) => ({ 'xi-api-key': key }),
  rules: [
    // What is used up answers like a wrong key.
    { names: ['quota_exceeded', 'insufficient_credits'], verdict: 'quota' },
    {
      names: ['too_many_concurrent_requests', 'concurrent_limit_exceeded', 'system_busy'],
      verdict: 'rate',
    },
    { names: ['invalid_api_key', 'needs_authorization'], verdict: 'auth' },
    {
      names: ['invalid_content', 'invalid_audio', 'audio_too_short', 'corrupted_audio'],
      verdict: 'invalid_input',
    },
    // A voice of the caller's choice, and what another model may take: the help centre shows both under 400 and 401.
    { names: ['voice_not_found', 'invalid_voice_id', 'voice_access_denied'], verdict: 'unsupported' },
    { names: ['max_character_limit_exceeded', 'text_too_long'], verdict: 'unsupported' },
  ],
});
