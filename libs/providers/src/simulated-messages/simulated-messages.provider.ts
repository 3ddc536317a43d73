import { anthropicCompatible } from '../protocol/anthropic-protocol.js';

/** The built-in provider in Anthropic's format. */
export const provider = anthropicCompatible({
  slug: 'simulated-messages',
  name: 'Simulator (messages)',
  credentialEnv: 'SIMULATED_API_KEY',
  baseUrlEnv: 'SIMULATED_MESSAGES_BASE_URL',
  defaultBaseUrl: 'http://127.0.0.1:4010',
  batches: 'anthropic-batches',
});
