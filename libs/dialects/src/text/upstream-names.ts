import { createHash } from 'node:crypto';
import { plainToolId } from './tool-signature.js';

const NAME_LIMIT = 64;
const DIGEST_LENGTH = 8;

/** Names of tools as the upstream may know them: at most 64 characters, with the way back (wire-formats 5.4). */
export class ToolNames {
  /** Short names with the caller's own. */
  readonly originals: Record<string, string> = {};

  get hasShortened(): boolean {
    return Object.keys(this.originals).length > 0;
  }

  upstream(name: string): string {
    if (name.length <= NAME_LIMIT) return name;
    const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
    const short = `${name.slice(0, NAME_LIMIT - DIGEST_LENGTH - 1)}_${digest}`;
    this.originals[short] = name;
    return short;
  }
}

/** A tool call id that the provider accepts: the caller's, or one that always stands for it (Mistral: 9 alphanumerics). */
export function upstreamCallId(id: string, pattern: RegExp | undefined): string {
  const own = plainToolId(id);
  if (!pattern || pattern.test(own)) return own;
  return createHash('sha256').update(own).digest('hex').slice(0, 9);
}
