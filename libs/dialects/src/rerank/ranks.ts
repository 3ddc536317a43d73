import { objectsOf } from '../body/json-object.js';
import type { RerankOrder, RerankRequest } from './rerank-dialect.js';

/** The ranks of a list; null where it is none, or names a document that was not sent. */
export function ranksOf(list: unknown, { documents, topN }: RerankRequest): RerankOrder['ranks'] | null {
  if (!Array.isArray(list)) return null;
  const seen = new Set<number>();
  const ranks: RerankOrder['ranks'][number][] = [];
  for (const { index, relevance_score: score } of objectsOf(list)) {
    if (typeof index !== 'number' || !(index in documents) || typeof score !== 'number' || seen.has(index))
      return null;
    seen.add(index);
    ranks.push({ index, score });
  }
  return ranks.length === list.length ? ranks.slice(0, topN) : null;
}
