import { StringDecoder } from 'node:string_decoder';

/** Longest line and longest unfinished event, in UTF-16 units. */
export const SSE_LIMIT = 1_048_576;

export interface SseEvent {
  /** Value of the event field, "" where there was none. */
  event: string;
  /** Lines of data, joined with a line feed. */
  data: string;
}

/**
 * Incremental parser of text/event-stream (WHATWG HTML 9.2.6): CR, LF and CRLF line ends, comments, several data lines,
 * `data:` with and without a space, and characters cut in two by the network. A last event without its blank line counts.
 */
export class SseParser {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';
  private event = '';
  private data: string | null = null;
  private started = false;
  /** True once a line or an event grew past SSE_LIMIT: nothing is parsed from then on. */
  overflowed = false;

  push(bytes: Uint8Array): SseEvent[] {
    if (this.overflowed) return [];
    return this.text(this.decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
  }

  /** The stream closed: what is left of it. */
  end(): SseEvent[] {
    const events = this.text(`${this.decoder.end()}\n\n`);
    this.rest = '';
    return events;
  }

  private text(chunk: string): SseEvent[] {
    let text = this.rest + chunk;
    if (!this.started && text.length > 0) {
      this.started = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    const events: SseEvent[] = [];
    let from = 0;
    const hasCarriageReturn = text.includes('\r');
    for (;;) {
      const line = hasCarriageReturn ? anyLineEnd(text, from) : lineFeed(text, from);
      if (line === null) break;
      this.line(text.slice(from, line.end), events);
      from = line.next;
    }
    this.rest = from === 0 ? text : text.slice(from);
    if (this.rest.length > SSE_LIMIT || (this.data !== null && this.data.length > SSE_LIMIT))
      this.overflowed = true;
    return events;
  }

  private line(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.data !== null) events.push({ event: this.event, data: this.data });
      this.event = '';
      this.data = null;
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1);
    if (field === 'data') this.data = this.data === null ? value : `${this.data}\n${value}`;
    else if (field === 'event') this.event = value;
  }
}

function lineFeed(text: string, from: number): { end: number; next: number } | null {
  const end = text.indexOf('\n', from);
  return end < 0 ? null : { end, next: end + 1 };
}

function anyLineEnd(text: string, from: number): { end: number; next: number } | null {
  const feed = text.indexOf('\n', from);
  const back = text.indexOf('\r', from);
  if (back < 0 || (feed >= 0 && feed < back)) return feed < 0 ? null : { end: feed, next: feed + 1 };
  // A carriage return at the very end may be half of CRLF: wait for what follows.
  if (back === text.length - 1) return null;
  return { end: back, next: text.charCodeAt(back + 1) === 0x0a ? back + 2 : back + 1 };
}
