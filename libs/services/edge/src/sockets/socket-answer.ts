import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { WebSocket } from 'ws';
import type { AnswerSink } from '../request/client.js';
import { WholeFrames } from '../request/whole-frames.js';

const DONE = '[DONE]';

/** An answer of events, sent as the messages of a socket: each event's data, with the stream that it belongs to. */
export class SocketAnswer extends Writable implements AnswerSink {
  readonly socket = null;
  private readonly decoder = new StringDecoder('utf8');
  private readonly closing: Promise<void>;
  private readonly whole = new WholeFrames();

  constructor(
    private readonly ws: WebSocket,
    private readonly streamId: string | null,
  ) {
    super({ decodeStrings: true });
    this.closing = new Promise((resolve) => this.once('close', resolve));
    this.once('close', () => ws.off('close', this.gone));
    // The socket's own close reports it.
    this.on('error', () => undefined);
    ws.once('close', this.gone);
    if (ws.readyState !== ws.OPEN) this.destroy();
  }

  /** A message is its own frame: there is no head. */
  writeHead(): this {
    return this;
  }

  /** Resolves once all of it has left, or its client. */
  ended(): Promise<void> {
    return this.closing;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const messages = this.whole
      .push(this.decoder.write(chunk))
      .flatMap((frame) => this.messageOf(frame) ?? []);
    const last = messages.pop();
    if (last === undefined) return done();
    for (const message of messages) this.ws.send(message, () => undefined);
    // Slow readers hold the answer back: the next piece waits until this one has left.
    this.ws.send(last, (error) => done(error ?? null));
  }

  private readonly gone = (): void => void this.destroy();

  private messageOf(frame: string): string | null {
    const lines = frame.split('\n').filter((line) => line.startsWith('data: '));
    const data = lines.map((line) => line.slice('data: '.length)).join('\n');
    if (data === '' || data === DONE) return null;
    return this.streamId === null || !data.endsWith('}')
      ? data
      : `${data.slice(0, -1)},"stream_id":${JSON.stringify(this.streamId)}}`;
  }
}
