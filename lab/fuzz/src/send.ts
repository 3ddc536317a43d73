import { Client } from 'undici';
import type { FuzzRequest } from './fuzz-request.js';

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  tookMs: number;
}

const ANSWER_CHARS_MAX = 8_000_000;

/** One keep-alive connection: requests one after the other, as an SDK sends them. */
export class Connection {
  private client: Client;

  /** `hangMs`: nobody waits longer for any answer. */
  constructor(
    private readonly url: string,
    private readonly hangMs: number,
  ) {
    this.client = this.connect();
  }

  /** @returns the answer, or why there was none. */
  async send({ method, target, headers, body }: FuzzRequest): Promise<Answer | string> {
    const startedMs = performance.now();
    const signal = AbortSignal.timeout(this.hangMs);
    try {
      const answer = await this.client.request({
        path: target,
        method,
        headers: headers.flat(),
        body,
        signal,
      });
      let text = '';
      answer.body.setEncoding('utf8');
      for await (const chunk of answer.body as AsyncIterable<string>) {
        text += chunk;
        if (text.length > ANSWER_CHARS_MAX) return 'an answer without end';
      }
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text,
        tookMs: performance.now() - startedMs,
      };
    } catch (failure) {
      await this.client.destroy().catch(() => undefined);
      this.client = this.connect();
      if (signal.aborted) return `no whole answer within ${this.hangMs} ms`;
      return `no answer: ${reasonOf(failure)}`;
    }
  }

  close(): Promise<void> {
    return this.client.destroy();
  }

  private connect(): Client {
    return new Client(this.url, { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 65_536 });
  }
}

function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  return 'code' in failure ? `${String(failure.code)} ${failure.message}` : failure.message;
}
