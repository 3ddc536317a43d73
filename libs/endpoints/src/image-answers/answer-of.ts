import { ApiError } from '@gateway/contracts';
import {
  base64Of,
  bytesOf,
  extensionOf,
  wholeCount,
  type AnswerFacts,
  type MadeImages,
  type MadePicture,
  type Piece,
  type UpstreamCalls,
} from '@gateway/dialects';
import type { AskedImages } from './asked-images.js';

/**
 * The caller's answer. Without a wish an image is answered both ways: by address, as the contract has it, and as base64,
 * which clients of today's models read. Then a store that is away costs the address only.
 */
export async function answerOf(
  made: MadeImages,
  format: AskedImages['format'],
  { calls, facts }: { calls: UpstreamCalls; facts: AnswerFacts },
): Promise<Piece> {
  const { images, members, usage, deliveredBytes, context } = made;
  const { usage: shown, ...rest } = { usage: undefined, ...members };
  const created = wholeCount(members?.created) ?? facts.created;
  const keep = async (picture: MadePicture, at: number): Promise<string> => {
    const bytes = bytesOf(picture);
    return calls.keep(`${facts.answerId()}-${at}.${extensionOf(bytes)}`, bytes);
  };
  const data = images.map(async ({ picture, members: own }, at) => {
    if (format === 'b64_json') return { ...own, b64_json: base64Of(picture) };
    if (format === 'url') return { ...own, url: await keep(picture, at) };
    const url = await keep(picture, at).catch((failure: unknown) => {
      if (failure instanceof ApiError) return undefined;
      throw failure;
    });
    return { ...own, url, b64_json: base64Of(picture) };
  });
  return {
    kind: 'end',
    out: JSON.stringify({ ...rest, created, data: await Promise.all(data), usage: shown }),
    usage,
    ...(deliveredBytes !== undefined && { deliveredBytes }),
    ...(context && { context }),
  };
}
