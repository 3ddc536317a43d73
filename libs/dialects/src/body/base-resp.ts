import { objectOf, textOf, type JsonObject } from './json-object.js';

/** A failure as other providers would say it. */
export interface BaseRespFailure {
  code: string;
  status: number;
  /** "" where there is none. */
  message: string;
}

/** Usual names of MiniMax's codes (platform.minimax.io, error codes); any other is a fault of its own. */
const FAILURES = new Map<unknown, readonly [code: string, status: number]>([
  [1002, ['rate_limit_exceeded', 429]],
  [1004, ['invalid_api_key', 401]],
  [1008, ['insufficient_quota', 402]],
  [1026, ['content_policy_violation', 400]],
  [1027, ['content_policy_violation', 400]],
  [1039, ['context_length_exceeded', 400]],
  [1041, ['rate_limit_exceeded', 429]],
  [1042, ['invalid_request_error', 400]],
  [2013, ['invalid_request_error', 400]],
  [2045, ['rate_limit_exceeded', 429]],
  [2049, ['invalid_api_key', 401]],
  [2056, ['rate_limit_exceeded', 429]],
]);

/** MiniMax says failures under a status of 200, in a member beside the answer; null where it has none. */
export function baseRespFailure({ base_resp }: JsonObject): BaseRespFailure | null {
  const { status_code, status_msg } = objectOf(base_resp);
  if (status_code === undefined || status_code === 0) return null;
  const [code, status] = FAILURES.get(status_code) ?? ['server_error', 500];
  return { code, status, message: textOf(status_msg) };
}
