import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'assemblyai',
  name: 'AssemblyAI',
  dialects: ['assemblyai'],
  credentialEnv: 'ASSEMBLYAI_API_KEY',
  baseUrlEnv: 'ASSEMBLYAI_BASE_URL',
  defaultBaseUrl: 'https://api.assemblyai.com',
  check: { path: '/v2/transcript?limit=1' },
  headersOf: (key) => ({ authorization: key }),
  rules: [
    { status: 400, message: /insufficient funds|account balance/i, verdict: 'quota' },
    // Of a task that ended: the recording could not be heard.
    { names: ['invalid_recording'], verdict: 'invalid_input' },
  ],
});
