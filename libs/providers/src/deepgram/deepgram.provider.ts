import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'deepgram',
  name: 'Deepgram',
  dialects: ['deepgram', 'deepgram-speech'],
  credentialEnv: 'DEEPGRAM_API_KEY',
  baseUrlEnv: 'DEEPGRAM_BASE_URL',
  defaultBaseUrl: 'https://api.deepgram.com/v1',
  check: { path: '/projects' },
  headersOf: (key) => ({ authorization: `Token ${key}` }),
  rules: [
    { names: ['INSUFFICIENT_PERMISSIONS'], verdict: 'permission' },
    { names: ['ASR_PAYMENT_REQUIRED'], verdict: 'quota' },
    // A language or a voice of the caller's choice.
    { status: 400, message: /no such model/i, verdict: 'unsupported' },
    // The bytes are no recording that it can read.
    { status: 400, message: /corrupt|unsupported data|decode/i, verdict: 'invalid_input' },
  ],
});
