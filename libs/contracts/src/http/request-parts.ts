/** One try, without the provider's name; the message may hold it. */
export interface AttemptView {
  n: number;
  status: string;
  http_status: number | null;
  error_code: string | null;
  error_message: string | null;
  started_at: string;
  latency_ms: number;
  ttft_ms: number | null;
  prompt_tokens: number;
  completion_tokens: number;
  served: boolean;
}

export interface AttemptsRecord {
  attempts: AttemptView[];
}

/** One line of a request's bill. */
export interface PriceLineView {
  /** A token class, `request`, `image`, `tool:NAME` and so on. */
  line: string;
  quantity: string;
  /** Measure of the rate: `1M tokens`, `image`, `second`, `1k calls` and so on. */
  unit: string;
  rate_usd: string;
  amount_usd: string;
}

/** A counter as admission saw it, this request counted. */
export interface LimitSeen {
  scope: string;
  scope_id: string;
  /** Team of the scope team_member alone. */
  team_id: string | null;
  /** Set for a counter beside the scope's own: `m:<model or brand/*>` of model_limits. */
  counter: string | null;
  metric: 'rpm' | 'rpd' | 'spend_cap';
  /** null of a cap: what was spent is not kept with the request. */
  current: number | null;
  /** null = unlimited; a decimal string of a cap. */
  limit: number | string | null;
}
