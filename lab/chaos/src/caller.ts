import { bodyOf, expectedPico, markOf, pathOf, type Work } from './work.js';

/** One request as its caller saw it. */
export interface Sent {
  work: Work;
  /** Names this one sending in the usage event's request_tags; a request sent again has another. */
  tag: string;
  edge: string;
  keyId: string;
  /** Empty where no headers came. */
  requestId: string;
  /** 0 where no headers came. */
  status: number;
  /** The whole answer arrived, and it was the right one. */
  isWhole: boolean;
  /** Reason why it is not whole: a refusal's code, or the failure of the connection. */
  fault: string;
  expectedPico: bigint;
}

/** The fault of a sending that did not reach any process. */
export const REFUSED = 'connection: ECONNREFUSED';
const TIMEOUT_MS = 40_000;

/** Sends it and reads all that comes; never rejects. */
export async function send(
  work: Work,
  to: { url: string; edge: string; key: string; keyId: string; tag: string },
): Promise<Sent> {
  const sent: Sent = {
    ...{ work, tag: to.tag, edge: to.edge, keyId: to.keyId, requestId: '', status: 0, isWhole: false },
    ...{ fault: '', expectedPico: expectedPico(work) },
  };
  const leave = new AbortController();
  try {
    const answer = await fetch(`${to.url}${pathOf(work)}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${to.key}`,
        'content-type': 'application/json',
        'x-request-tags': `chaos=${to.tag}`,
        ...(work.dialect === 'messages' && { 'anthropic-version': '2023-06-01' }),
      },
      body: bodyOf(work),
      signal: AbortSignal.any([leave.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    sent.status = answer.status;
    sent.requestId = answer.headers.get('x-request-id') ?? '';
    const text = await readAll(answer, work, leave);
    judge(sent, text);
  } catch (failure) {
    sent.fault = leave.signal.aborted ? 'caller_left' : reasonOf(failure);
  }
  return sent;
}

async function readAll(answer: Response, work: Work, leave: AbortController): Promise<string> {
  if (answer.status !== 200 || work.ending !== 'caller_leaves' || !answer.body) return answer.text();
  const reader = answer.body.getReader();
  for (let read = 0; read < 2; read += 1) await reader.read();
  leave.abort();
  throw new Error('the caller left');
}

function judge(sent: Sent, text: string): void {
  const { work, status } = sent;
  if (status !== 200) {
    sent.fault = /"code":\s*"([a-z_]+)"/.exec(text)?.[1] ?? `status ${status}`;
  } else if (!work.stream || isEnded(text, work)) {
    sent.isWhole = text.includes(markOf(work));
    if (!sent.isWhole) sent.fault = `another's answer: ${text.slice(0, 200)}`;
  } else {
    sent.fault = 'cut';
  }
}

/** An error in a stream is followed by the end of the stream in neither dialect. */
function isEnded(text: string, { dialect }: Work): boolean {
  if (/^(?:event: error|data: \{"error")/m.test(text)) return false;
  return dialect === 'chat' ? text.includes('data: [DONE]') : text.includes('event: message_stop');
}

function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const { cause } = failure;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : failure.name;
  return `connection: ${code}`;
}
