/** A request again, in the languages that people send it from. */
export interface RequestCode {
  curl: string;
  python: string;
  typescript: string;
}

type Json = unknown;

/** Endpoint and model of a request. */
interface Sent {
  endpoint: string;
  model: string | null;
  requested_model: string | null;
}

const MESSAGES = [{ role: 'user', content: '…' }];
/** Bodies of the endpoints that take JSON, for requests whose own body is not shown. */
const PLACEHOLDERS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: MESSAGES },
  '/v1/completions': { prompt: '…' },
  '/v1/responses': { input: '…' },
  '/v1/messages': { max_tokens: 1_024, messages: MESSAGES },
  '/v1/embeddings': { input: '…' },
  '/v1/images/generations': { prompt: '…' },
  '/v1/audio/speech': { input: '…', voice: 'alloy' },
};

/**
 * Returns code that sends a request again, with its logged body where that is given, else with a placeholder. Null for
 * endpoints whose bodies are no JSON. The key is read from the environment.
 */
export function requestCode(
  origin: string,
  { endpoint, model, requested_model: requested }: Sent,
  logged?: Json,
): RequestCode | null {
  const placeholder = PLACEHOLDERS[endpoint];
  if (placeholder === undefined) return null;
  const body = logged ?? { model: requested ?? model, ...placeholder };
  const url = `${origin}${endpoint}`;
  const json = JSON.stringify(body, null, 2);
  return {
    curl: [
      // A stream is written as it comes.
      `curl ${isStream(body) ? '-N ' : ''}${url} \\`,
      `  -H "Authorization: Bearer $GATEWAY_KEY" \\`,
      `  -H "Content-Type: application/json" \\`,
      `  -d '${json.replaceAll("'", "'\\''")}'`,
    ].join('\n'),
    python: [
      'import os',
      '',
      'import requests',
      '',
      'answer = requests.post(',
      `    "${url}",`,
      `    headers={"Authorization": f"Bearer {os.environ['GATEWAY_KEY']}"},`,
      `    json=${pythonOf(body)},`,
      ')',
      'print(answer.text)',
    ].join('\n'),
    typescript: [
      `const answer = await fetch('${url}', {`,
      "  method: 'POST',",
      '  headers: {',
      '    authorization: `Bearer ${process.env.GATEWAY_KEY}`,',
      "    'content-type': 'application/json',",
      '  },',
      `  body: JSON.stringify(${json}),`,
      '});',
      'console.log(await answer.text());',
    ].join('\n'),
  };
}

function isStream(body: Json): boolean {
  return typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;
}

/** Returns a JSON value as a literal of Python. */
function pythonOf(value: Json): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${pythonOf(member)}`,
  );
  return `{${members.join(', ')}}`;
}
