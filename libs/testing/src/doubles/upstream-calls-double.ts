import type { UpstreamBody, UpstreamCalls, UpstreamReply } from '@gateway/dialects';

interface Reply {
  status?: number;
  contentType?: string;
  /** JSON where it is no bytes. */
  body: unknown;
}

/** A call that an exchange sent. */
interface SentCall {
  method: 'GET' | 'POST' | 'PUT';
  /** The path, or the address where an answer named it. */
  at: string;
  contentType: string;
  accept: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The body where it is JSON. */
  json: unknown;
}

/** A provider that answers in the order of the script; time passes at once. */
export class UpstreamCallsDouble implements UpstreamCalls {
  readonly caller = { accountId: 'acct_1', signal: new AbortController().signal };
  readonly sent: SentCall[] = [];
  readonly downloads: string[] = [];
  readonly sleptMs: number[] = [];
  readonly noted: string[] = [];
  readonly kept = new Map<string, Uint8Array>();

  /** An Error is thrown in place of a reply. */
  constructor(private readonly replies: (Reply | Error)[]) {}

  send(request: UpstreamBody): Promise<UpstreamReply> {
    const { method = 'POST', path, url, contentType, accept, headers = {}, pieces } = request;
    const body = Buffer.concat(pieces);
    const json: unknown = contentType === 'application/json' ? JSON.parse(body.toString()) : null;
    this.sent.push({ method, at: url ?? path, contentType, accept, headers, body, json });
    return this.next();
  }

  download(url: string): Promise<UpstreamReply> {
    this.downloads.push(url);
    return this.next();
  }

  sleep(ms: number): Promise<void> {
    this.sleptMs.push(ms);
    return Promise.resolve();
  }

  note(task: string): Promise<void> {
    this.noted.push(task);
    return Promise.resolve();
  }

  keep(name: string, bytes: Uint8Array): Promise<string> {
    this.kept.set(name, bytes);
    return Promise.resolve(`https://objects.test/${name}`);
  }

  private next(): Promise<UpstreamReply> {
    const reply = this.replies.shift();
    if (reply === undefined) return Promise.reject(new Error('the script has no further reply'));
    if (reply instanceof Error) return Promise.reject(reply);
    const { status = 200, contentType = 'application/json', body } = reply;
    const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
    return Promise.resolve({ status, contentType, bytes });
  }
}
