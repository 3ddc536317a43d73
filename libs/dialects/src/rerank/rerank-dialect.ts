import type { UnitUsage } from '@gateway/contracts';
import type { RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** The format of an upstream that puts documents in order. */
export interface RerankDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  /** The caller's parameter that the upstream has no word for; null where it can carry the request. */
  unsupported(request: RerankRequest): string | null;
  encode(request: RerankRequest, target: RouteTarget): UpstreamBody;
  /** Decodes the whole answer; null where the bytes are none. Never throws. */
  decode(bytes: Uint8Array, request: RerankRequest): RerankOrder | null;
}

/** A request for an order of documents, checked. */
export interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  /** Number of returned documents, at most all. */
  readonly topN: number;
  readonly returnsDocuments: boolean;
  readonly maxTokensPerDocument: number | null;
  /** Searches that it is, as those count who bill by them: what is billed where an answer names none. */
  readonly searches: number;
}

/** The best first. */
export interface RerankOrder {
  readonly ranks: readonly { readonly index: number; readonly score: number }[];
  /** Usage as the provider counted: tokens or searches. */
  readonly usage: UnitUsage;
}
