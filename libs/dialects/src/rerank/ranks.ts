import { objectsOf } from '../body/json-object.js';
import type { RerankOrder, RerankRequest } from './rerank-dialect.js';

/** The ranks of a list; null where it is none, is empty, or names a document that was not sent. */
export function ranksOf(list: unknown, { documents, topN }: RerankRequest): RerankOrder['ranks'] | null {
  if (!Array.isArray(list)) return null;
  const seen = new Set<number>();
  const ranks: RerankOrder['ranks'][number][] = [];
  for (const { index, relevance_score: score } of objectsOf(list)) {
    if (typeof index !== 'number' || !(index in documents) || seen.has(index)) return null;
    // A number that is too large for one is read as infinite, and would be written as null.
    if (typeof score !== 'number' || !Number.isFinite(score)) return null;
    seen.add(index);
    ranks.push({ index, score });
  }
  return ranks.length > 0 && ranks.length === list.length ? ranks.slice(0, topN) : null;
}
