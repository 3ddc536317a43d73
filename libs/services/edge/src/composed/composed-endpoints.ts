import { clientSecrets } from './client-secrets.js';
import { compact } from './compact.js';
import { compare } from './compare.js';
import type { ComposedEndpoint } from '../inference/composed-endpoint.js';
import { evaluate } from './evaluate.js';
import { translateTranscription } from './audio/translate-transcription.js';
import { select } from './select.js';

/** Endpoints that ask models through other endpoints. */
export const COMPOSED_ENDPOINTS: readonly ComposedEndpoint[] = [
  compare,
  select,
  evaluate,
  translateTranscription,
  clientSecrets,
  compact,
];
