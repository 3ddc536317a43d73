import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'fal',
  name: 'fal',
  dialects: ['fal-images', 'fal-video'],
  credentialEnv: 'FAL_KEY',
  baseUrlEnv: 'FAL_BASE_URL',
  defaultBaseUrl: 'https://queue.fal.run',
  // Refused for its input once the key was taken.
  check: { path: '/fal-ai/flux/dev', sendsNothing: true },
  hosts: { api: ['fal.run'], results: ['fal.media', 'fal.ai'] },
  headersOf: (key) => ({ authorization: `Key ${key}` }),
});
