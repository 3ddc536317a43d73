const FRAME_CHARS_MAX = 4 * 1024 * 1024;

/** The `data:` of each event of a stream, whatever the bytes are cut into. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const frames = rest.split(/\r?\n\r?\n/);
      rest = frames.pop() ?? '';
      if (rest.length > FRAME_CHARS_MAX) throw new Error('The stream holds an event without an end.');
      for (const frame of frames) {
        const data = dataOf(frame);
        if (data !== null) yield data;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Comments keep the connection alive and say nothing. */
function dataOf(frame: string): string | null {
  const lines = frame.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? null : lines.map((line) => line.slice(5).trimStart()).join('\n');
}
