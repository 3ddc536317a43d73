import { eventsOf } from './sse.js';

function streamOf(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks)
        controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
      controller.close();
    },
  });
}

async function all(body: ReadableStream<Uint8Array>): Promise<string[]> {
  const events: string[] = [];
  for await (const event of eventsOf(body)) events.push(event);
  return events;
}

describe('a stream of events', () => {
  it('gives each event once, however its bytes are cut', async () => {
    const bytes = new TextEncoder().encode(': wait\n\ndata: {"a":"é"}\r\n\r\ndata: [DONE]\n\n');
    const whole = ['{"a":"é"}', '[DONE]'];
    for (let cut = 1; cut < bytes.length; cut += 1) {
      expect(await all(streamOf(bytes.slice(0, cut), bytes.slice(cut)))).toEqual(whole);
    }
  });

  it('closes the connection where its reader stops', async () => {
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: more\n\n')),
      cancel: () => {
        isCancelled = true;
      },
    });
    for await (const event of eventsOf(endless)) {
      expect(event).toBe('more');
      break;
    }
    expect(isCancelled).toBe(true);
  });
});
