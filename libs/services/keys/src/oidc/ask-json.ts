const TIMEOUT_MS = 10_000;
const ANSWER_MAX_BYTES = 1_048_576;

export type JsonAnswer = Readonly<Record<string, unknown>>;

/** Asks an address that the operator set: bounded in time and size, no redirect followed. Rejects for what is no JSON object. */
export async function askJson(
  url: string,
  init: { method?: 'POST'; headers?: Record<string, string>; body?: string },
): Promise<{ status: number; body: JsonAnswer }> {
  const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error('The answer is too large.');
    parts.push(part);
  }
  const parsed: unknown = answer.status === 200 ? JSON.parse(Buffer.concat(parts).toString('utf8')) : {};
  if (typeof parsed !== 'object' || parsed === null) throw new Error('The answer is no JSON object.');
  return { status: answer.status, body: { ...parsed } };
}
