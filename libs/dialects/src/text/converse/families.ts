import { createHash } from 'node:crypto';
import { plainToolId } from '../tool-signature.js';

/** The maker of a Bedrock model: each family takes its own extras. */
export type Family = 'claude' | 'nova' | 'mistral' | 'other';

export function familyOf(model: string): Family {
  if (model.includes('anthropic.')) return 'claude';
  if (model.includes('amazon.nova')) return 'nova';
  return model.includes('mistral.') ? 'mistral' : 'other';
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;
const MISTRAL_ID = /^[A-Za-z0-9]{9}$/;

/** An id that the model accepts: the caller's, or one that always stands for it. */
export function toolUseId(id: string, family: Family): string {
  const own = plainToolId(id);
  const isMistral = family === 'mistral';
  if ((isMistral ? MISTRAL_ID : ID).test(own)) return own;
  return createHash('sha256')
    .update(own)
    .digest('hex')
    .slice(0, isMistral ? 9 : 32);
}
