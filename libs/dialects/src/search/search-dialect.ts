import type { UpstreamBody } from '../translation/upstream-body.js';

/** The format of a web search engine. */
export interface SearchDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  /** The caller's parameter that the engine has no word for; null where it can carry the request. */
  unsupported(request: SearchRequest): string | null;
  encode(request: SearchRequest): UpstreamBody;
  /** Decodes the whole answer; null where the bytes are none. Never throws. */
  decode(bytes: Uint8Array, request: SearchRequest): SearchFindings | null;
}

/** A web search, checked. Null leaves a choice to the engine. */
export interface SearchRequest {
  /** 1 to 5; most engines take one. */
  readonly queries: readonly string[];
  readonly maxResults: number;
  readonly type: 'web' | 'news' | 'academic' | 'images';
  /** ISO 3166 in capitals. */
  readonly country: string | null;
  /** ISO 639-1 in small letters. */
  readonly language: string | null;
  readonly recency: 'day' | 'week' | 'month' | 'year' | null;
  /** YYYY-MM-DD. */
  readonly startDate: string | null;
  readonly endDate: string | null;
  readonly includeDomains: readonly string[];
  readonly excludeDomains: readonly string[];
  readonly includeContent: boolean;
  readonly maxTokensPerPage: number | null;
  readonly safeSearch: 'off' | 'moderate' | 'strict' | null;
}

/** The findings of an engine, in the caller's format. */
export interface SearchFindings {
  readonly results: readonly SearchResult[];
  /** The engine's own summary, where it wrote one. */
  readonly answer?: string;
  readonly images?: readonly string[];
}

/** Members that the engine did not give are left out. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly content?: string;
  readonly published_at?: string;
  readonly updated_at?: string;
  readonly source?: string;
  readonly score?: number;
  readonly favicon?: string;
  readonly image?: string;
}
