import { StringDecoder } from 'node:string_decoder';

/**
 * Longest line and longest unfinished event of any format, in UTF-16 units: pictures come in base64 in one event, and the
 * last one of a response holds all of its items and the request's instructions. As large as a request may be, half of
 * what an attempt reads of one answer.
 */
export const STREAM_EVENT_MAX = 32 * 1_048_576;

/** Number of pieces of one line at which they are joined: a piece costs more memory than its characters. */
const PIECES_MAX = 1_024;

export interface SseEvent {
  /** Value of the event field, "" where there was none. */
  event: string;
  /** Lines of data, joined with a line feed. */
  data: string;
}

/**
 * Incremental parser of text/event-stream (WHATWG HTML 9.2.6): CR, LF and CRLF line ends, comments, several data lines,
 * `data:` with and without a space, and characters cut in two by the network. A last event without its blank line counts.
 * Each character is looked at once, however the text is cut and whatever ends its lines.
 */
export class SseParser {
  private readonly decoder = new StringDecoder('utf8');
  /** Pieces of a line whose end has not come. Only the last may end with a carriage return, which may be half of CRLF. */
  private rest: string[] = [];
  /** Joined pieces before them of the same line. */
  private joined: string[] = [];
  private restLength = 0;
  private event = '';
  private data: string | null = null;
  private started = false;
  /** True once a line or an event grew past STREAM_EVENT_MAX: nothing is parsed from then on. */
  overflowed = false;

  push(bytes: Uint8Array): SseEvent[] {
    if (this.overflowed) return [];
    return this.text(this.decoder.write(bytes));
  }

  /** The stream closed: what is left of it. */
  end(): SseEvent[] {
    const events = this.text(`${this.decoder.end()}\n\n`);
    this.rest = [];
    this.joined = [];
    this.restLength = 0;
    return events;
  }

  private text(chunk: string): SseEvent[] {
    if (chunk === '') return [];
    let piece = chunk;
    if (!this.started) {
      this.started = true;
      if (piece.charCodeAt(0) === 0xfeff) piece = piece.slice(1);
    }
    // A carriage return that was the last of what came ends its line with or without what comes now.
    if (this.rest.at(-1)?.endsWith('\r') === true) {
      const held = this.rest.pop() ?? '';
      this.restLength -= held.length;
      piece = held + piece;
    }
    const events = this.lines(piece);
    if (this.restLength > STREAM_EVENT_MAX || (this.data !== null && this.data.length > STREAM_EVENT_MAX))
      this.overflowed = true;
    return events;
  }

  private lines(text: string): SseEvent[] {
    // Most reads hold one event: V8 gives a list that grows from nothing sixteen places more.
    let events: SseEvent[] | null = null;
    let from = 0;
    let feed = text.indexOf('\n');
    let back = text.indexOf('\r');
    while (feed >= 0 || back >= 0) {
      const isBack = back >= 0 && (feed < 0 || back < feed);
      const end = isBack ? back : feed;
      // At the very end it may be half of CRLF: wait for what follows.
      if (isBack && end === text.length - 1) break;
      const last = text.slice(from, end);
      const event = this.line(this.restLength === 0 ? last : this.wholeLine(last));
      if (event !== null && events === null) events = [event];
      else if (event !== null) events?.push(event);
      from = isBack && feed === end + 1 ? end + 2 : end + 1;
      if (feed >= 0 && feed < from) feed = text.indexOf('\n', from);
      if (back >= 0 && back < from) back = text.indexOf('\r', from);
    }
    if (from < text.length) this.hold(from === 0 ? text : text.slice(from));
    return events ?? [];
  }

  /** Holds a piece of a line until its end has come. */
  private hold(piece: string): void {
    this.rest.push(piece);
    this.restLength += piece.length;
    if (this.rest.length >= PIECES_MAX) this.joined.push(this.rest.splice(0, PIECES_MAX - 1).join(''));
  }

  private wholeLine(last: string): string {
    const line = [...this.joined, ...this.rest, last].join('');
    this.rest = [];
    this.joined = [];
    this.restLength = 0;
    return line;
  }

  /** Returns the event that the line ends; null where it ends none. */
  private line(line: string): SseEvent | null {
    if (line === '') {
      const event = this.data === null ? null : { event: this.event, data: this.data };
      this.event = '';
      this.data = null;
      return event;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return null;
    const fieldEnd = colon < 0 ? line.length : colon;
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1);
    if (fieldEnd === 4 && line.startsWith('data'))
      this.data = this.data === null ? value : `${this.data}\n${value}`;
    else if (fieldEnd === 5 && line.startsWith('event')) this.event = value;
    return null;
  }
}
