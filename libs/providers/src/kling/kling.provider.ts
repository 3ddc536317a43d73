import { keyedProvider } from '../protocol/keyed-protocol.js';

/** Its failures come with 200: the codes are read by its dialect. */
export const provider = keyedProvider({
  slug: 'kling',
  name: 'Kling AI',
  dialects: ['kling'],
  credentialEnv: 'KLING_API_KEY',
  baseUrlEnv: 'KLING_BASE_URL',
  defaultBaseUrl: 'https://api-singapore.klingai.com',
  check: { path: '/v1/videos/text2video?pageNum=1&pageSize=1' },
  hosts: { api: [], results: ['klingai.com'] },
  headersOf: (key) => ({ authorization: `Bearer ${key}` }),
  rules: [
    // The content was refused by its filter.
    { names: ['1301'], verdict: 'content_policy' },
    { names: ['1101', '1102'], verdict: 'quota' },
  ],
});
