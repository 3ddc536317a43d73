import type { Json } from '../edge.fixture.js';

export interface SseFrame {
  event: string | null;
  /** The parsed data; null for [DONE] and for comments. */
  data: Json | null;
  text: string;
}

export function framesOf(text: string): SseFrame[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const lines = frame.split('\n');
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7) ?? null;
      const datas = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
      const data = datas.length === 0 ? undefined : datas.join('\n');
      return {
        event,
        text: frame,
        data: data === undefined || data === '[DONE]' ? null : (JSON.parse(data) as Json),
      };
    });
}

/** Reads an answer piece by piece. */
export class StreamReader {
  text = '';
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly decoder = new TextDecoder();

  constructor(response: Response) {
    if (!response.body) throw new TypeError('an answer without a body');
    this.reader = response.body.getReader();
  }

  /** Reads until the text so far satisfies the condition; false where the stream ended before. */
  async until(condition: (text: string) => boolean): Promise<boolean> {
    while (!condition(this.text)) {
      const { done, value } = await this.reader.read();
      if (done) return false;
      this.text += this.decoder.decode(value, { stream: true });
    }
    return true;
  }

  /** Leaves: the connection is closed. */
  async cancel(): Promise<void> {
    await this.reader.cancel().catch(() => undefined);
  }

  async rest(): Promise<string> {
    await this.until(() => false);
    return this.text;
  }
}

/** Returns the text of a chat or messages stream, whatever the front. */
export function spoken(frames: readonly SseFrame[]): string {
  return frames
    .map(({ data }) => {
      const choice = (data?.choices as { delta?: { content?: string } }[] | undefined)?.[0];
      const delta = data?.delta as { text?: string } | undefined;
      return choice?.delta?.content ?? delta?.text ?? '';
    })
    .join('');
}

export function isEnded(text: string): boolean {
  return text.includes('data: [DONE]') || text.includes('event: message_stop');
}
