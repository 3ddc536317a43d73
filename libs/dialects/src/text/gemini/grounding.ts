import { filled, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import type { Citation } from '../model-event.js';

const CITATIONS_MAX = 1_000;

/**
 * Sources of a grounded answer. Segments count UTF-8 bytes of the text; a citation counts characters.
 * `text` is what the choice has said so far, null where it is too long to be kept.
 */
export function citationsOf(metadata: JsonObject, text: string | null): Citation[] {
  const sources = objectsOf(metadata.groundingChunks).map((chunk) => objectOf(chunk.web));
  const supports = objectsOf(metadata.groundingSupports);
  const bytes = text === null || supports.length === 0 ? null : Buffer.from(text, 'utf8');
  const citations: Citation[] = [];
  for (const { segment, groundingChunkIndices } of supports) {
    const { startIndex = 0, endIndex } = objectOf(segment);
    for (const index of Array.isArray(groundingChunkIndices) ? groundingChunkIndices : []) {
      const source = typeof index === 'number' ? sources.at(index) : undefined;
      const url = filled(source?.uri);
      if (url === null || citations.length >= CITATIONS_MAX) continue;
      const place =
        bytes !== null && typeof startIndex === 'number' && typeof endIndex === 'number'
          ? { start: charactersAt(bytes, startIndex), end: charactersAt(bytes, endIndex) }
          : {};
      citations.push({ url, title: textOf(source?.title), ...place });
    }
  }
  if (citations.length > 0) return citations;
  return sources.slice(0, CITATIONS_MAX).flatMap(({ uri, title }) => {
    const url = filled(uri);
    return url === null ? [] : [{ url, title: textOf(title) }];
  });
}

function charactersAt(bytes: Buffer, end: number): number {
  return bytes.toString('utf8', 0, Math.max(0, Math.min(end, bytes.length))).length;
}
