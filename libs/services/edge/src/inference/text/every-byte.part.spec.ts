import { connect } from 'node:net';
import { eventually } from '@gateway/testing';
import { hello, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './text.fixture.js';

const edge = tenantOf(started, 'every_byte');

const ROADS: [path: string, upstream: string][] = [
  ['/v1/chat/completions', 'sim-chat'],
  ['/v1/messages', 'sim-claude'],
  ['/v1/chat/completions', 'sim-claude'],
  ['/v1/messages', 'sim-chat'],
];
/** `Hello there` and what stands around it. */
const PROMPT_TOKENS = 3;

describe('a stream that ends too soon', () => {
  /** Reads so many bytes of a streamed answer from the socket, then resets it. */
  function readAndLeave(path: string, model: string, bytes: number): Promise<void> {
    const { hostname, port } = new URL(edge.url);
    const body = JSON.stringify(hello(model, { stream: true }));
    return new Promise((resolve) => {
      let read = 0;
      const socket = connect({ port: Number(port), host: hostname });
      const leave = (): void => {
        socket.resetAndDestroy();
        resolve();
      };
      socket.on('error', () => resolve());
      socket.on('end', () => resolve());
      socket.on('data', (part: Buffer) => {
        read += part.length;
        if (read >= bytes) leave();
      });
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${edge.key}\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
  }

  it.each(ROADS)(
    'B11 U11 %s over %s, left at every stretch of its bytes: one event each, billed by what was delivered, upstream closed',
    async (path, upstream) => {
      const words = 30;
      const model = edge.serve(
        `leave/${upstream}${path.length}`,
        `${upstream}:text=${'word '.repeat(words)};delay=3`,
      );
      const first = await edge.post(hello(model, { stream: true }), { path });
      const whole = (await first.text()).length;
      await edge.record(first);
      edge.sim.reset();
      const before = edge.shipped().length;
      // Heads are some 900 bytes; the step has no divisor in common with a frame's length, so that cuts fall everywhere.
      const places: number[] = [];
      for (let at = 1; at < whole + 900; at += 151) places.push(at);
      await Promise.all(places.map((at) => readAndLeave(path, model, at)));
      await eventually(() => edge.shipped().length >= before + places.length);
      const events = edge.shipped().slice(before);
      expect(new Set(events.map(({ request_id }) => request_id)).size).toBe(places.length);
      await eventually(() => edge.upstream().every(({ state }) => state !== 'open'));
      for (const { outcome, status, cost_usd, usage } of events) {
        const { prompt_tokens, completion_tokens } = usage as Record<string, number>;
        expect([outcome === 'cancelled' || outcome === 'served', status]).toEqual([true, 'success']);
        expect(completion_tokens).toBeLessThanOrEqual(words * 2 + 10);
        if (outcome === 'cancelled' && upstream === 'sim-chat') expect(prompt_tokens).toBe(PROMPT_TOKENS);
        expect(Number(cost_usd)).toBeCloseTo((prompt_tokens + 2 * completion_tokens) / 1e6, 12);
      }
      expect(events.some(({ outcome }) => outcome === 'cancelled')).toBe(true);
    },
  );

  it.each(ROADS)(
    'B12 %s over %s, whose upstream dies after each of its events: told in-band, one event with status error, none billed twice',
    async (path, upstream) => {
      for (const how of ['close', 'reset', 'eof']) {
        const cuts = [2, 3, 4, 5, 6, 8];
        const answers = await Promise.all(
          cuts.map(async (cut) => {
            const script = `${upstream}:text=${'word '.repeat(10)};cut=${cut};cut_how=${how}`;
            const model = edge.serve(`dies/${how}${cut}${upstream}${path.length}`, script);
            const answer = await edge.post(hello(model, { stream: true }), { path });
            return { answer, text: await answer.text() };
          }),
        );
        for (const { answer, text } of answers) {
          const records = edge
            .shipped()
            .filter(({ request_id }) => request_id === answer.headers.get('x-request-id'));
          const record: Json = records[0] ?? (await edge.record(answer));
          expect(records.length).toBeLessThanOrEqual(1);
          expect(record).toMatchObject({ status: 'error', outcome: 'failed' });
          if (answer.status === 200) expect(text).toMatch(/"error"/);
          expect(text).not.toMatch(/data: \[DONE\]|event: message_stop/);
        }
      }
    },
  );

  it.each([true, false])(
    'U11 stream %s: 400 that leave at once before the first token close their upstreams',
    async (stream) => {
      const models = ROADS.map(([path, upstream], at) => ({
        path,
        model: edge.serve(`gone/${at}`, `${upstream}:latency=600000`),
      }));
      edge.sim.reset();
      const callers = Array.from({ length: 400 }, (_, n) => {
        const caller = new AbortController();
        const { path, model } = models[n % models.length];
        edge.post(hello(model, { stream }), { path, signal: caller.signal }).catch(() => undefined);
        return caller;
      });
      await eventually(() => edge.upstream().length === callers.length);
      for (const caller of callers) caller.abort();
      // How fast is measured by `npm run bench -- --only left` with 1,000.
      await eventually(() => edge.upstream().every(({ state }) => state === 'aborted'));
    },
  );
});
