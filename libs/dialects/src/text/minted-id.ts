import { createHash } from 'node:crypto';

/** Id of a call whose provider gave none: the same for the same answer, so that a stream and its fold agree. */
export function mintedToolId(seed: string, choice: number, call: number): string {
  const digest = createHash('sha256').update(`${seed}/${choice}/${call}`).digest('hex');
  return `call_${digest.slice(0, 24)}`;
}
