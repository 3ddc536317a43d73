import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import {
  at,
  bodyOf,
  CREDENTIALS,
  firstChoice,
  payloads,
  post,
  rawExchange,
  rawRequest,
} from './spec-client.js';
import { startUpstreamSim, type UpstreamSim } from './upstream-sim.js';

let sim: UpstreamSim;
beforeAll(async () => (sim = await startUpstreamSim()));
beforeEach(() => sim.reset());
afterAll(() => sim.close());

async function stream(dialect: 'chat' | 'messages', script: string, over: object = {}): Promise<string> {
  const model = `${dialect === 'chat' ? 'sim-chat' : 'sim-claude'}:${script}`;
  return (await post(sim, dialect, { model, stream: true, ...over })).text;
}

/** The text the frames add up to. */
function said(text: string): string {
  const parts = payloads(text).map(
    (event) => at(firstChoice(event), 'delta', 'content') ?? at(event, 'delta', 'text'),
  );
  return parts.filter((part) => typeof part === 'string').join('');
}

describe('frames', () => {
  it('chat begins with the role, ends with finish and [DONE], and sends usage only when asked', async () => {
    const text = await stream('chat', 'text=Hello there');
    const chunks = payloads(text);
    expect(firstChoice(chunks[0])).toMatchObject({
      delta: { role: 'assistant', content: '' },
      finish_reason: null,
    });
    expect(firstChoice(chunks[chunks.length - 1])).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(text).toMatch(/\n\ndata: \[DONE\]\n\n$/);
    expect(text).not.toContain('usage');
    expect(said(text)).toBe('Hello there');
    const asked = payloads(
      await stream('chat', 'text=Hello there', { stream_options: { include_usage: true } }),
    );
    expect(asked[0]).toMatchObject({ usage: null });
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 3 } });
  });

  it('messages streams blocks one after the other between start and stop', async () => {
    const text = await stream('messages', 'text=Hello there');
    expect(text.split('\n').filter((line) => line.startsWith('event:'))).toEqual(
      [
        'message_start',
        'ping',
        'content_block_start',
        'content_block_delta',
        'content_block_delta',
        'content_block_stop',
      ]
        .concat('message_delta', 'message_stop')
        .map((name) => `event: ${name}`),
    );
    expect(said(text)).toBe('Hello there');
  });

  it.each(['delay=1', 'usage=always'])('sends the same frames paced and prebuilt: %s', async (script) => {
    const paced = await post(sim, 'chat', { stream: true }, { 'x-sim': script });
    const built = await post(sim, 'chat', { stream: true, model: 'sim-chat:usage=always' });
    expect(said(paced.text)).toBe(said(built.text));
    expect(paced.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(paced.headers['content-type']).toBe(built.headers['content-type']);
  });

  it('cuts text at characters, never inside one', async () => {
    const text = await stream('chat', 'chunk=1;text=a😀é');
    const deltas = payloads(text).map((chunk) => at(firstChoice(chunk), 'delta', 'content'));
    expect(deltas).toEqual(['', 'a', '😀', 'é', undefined]);
  });

  it('writes CRLF, comments, pings, many data lines, no space, no last blank line', async () => {
    const text = 'text=Hi';
    expect((await stream('chat', `${text};frames=crlf`)).replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(await stream('chat', `${text};frames=comments`)).toMatch(/^: between frames\n\ndata: \{/);
    expect(await stream('chat', `${text};frames=pings`)).toMatch(/^: SIMULATOR PROCESSING\n\ndata: \{/);
    expect(await stream('messages', `${text};frames=pings`)).toMatch(
      /^event: ping\ndata: \{"type": "ping"\}\n\nevent: message_start/,
    );
    expect(await stream('chat', `${text};frames=multiline`)).toMatch(/^data: \{\ndata: {2}"id": /);
    expect(await stream('messages', `${text};frames=nospace`)).toMatch(/^event:message_start\ndata:\{/);
    expect(await stream('chat', `${text};frames=nofinal`)).toMatch(/data: \[DONE\]\n$/);
    expect(await stream('chat', `${text};frames=crlf,nofinal,comments`)).toMatch(
      /^: between frames\r\n\r\n[^]*\[DONE\]\r\n$/,
    );
  });

  it('leaves the end marker out', async () => {
    expect(await stream('chat', 'done=0')).not.toContain('[DONE]');
    expect(await stream('messages', 'done=0')).not.toContain('message_stop');
  });

  it('leaves usage out or sends it twice', async () => {
    const asked = { stream_options: { include_usage: true } };
    const counts = async (script: string): Promise<number> =>
      payloads(await stream('chat', script, asked)).filter(
        (chunk) => at(chunk, 'usage', 'prompt_tokens') !== undefined,
      ).length;
    expect([await counts('usage=none'), await counts('usage=twice'), await counts('usage=finish')]).toEqual([
      0, 2, 1,
    ]);
    expect(await stream('messages', 'usage=none')).not.toContain('"usage"');
    const deltas = payloads(await stream('messages', 'usage=twice;completion=9')).filter(
      ({ type }) => type === 'message_delta',
    );
    expect(deltas.map((event) => at(event, 'usage', 'output_tokens'))).toEqual([4, 9]);
  });

  it('splits bytes into single TCP writes, through characters too', async () => {
    const { bytes } = await rawExchange(
      sim,
      rawRequest('chat', { model: 'sim-chat:split=1;text=é', stream: true }),
    );
    const chunks = bytes.toString('latin1').split('\r\n\r\n').slice(1).join('').split('\r\n');
    expect(chunks.slice(0, 4)).toEqual(['1', 'd', '1', 'a']);
    expect(said(await stream('chat', 'split=3;text=é😀'))).toBe('é😀');
  });
});

describe('streams that break off', () => {
  it('cuts after n events, at a frame, in a frame and in a character', async () => {
    const cut = async (script: string): Promise<Buffer> => {
      const { bytes } = await rawExchange(
        sim,
        rawRequest('chat', { model: `sim-chat:${script}`, stream: true }),
      );
      return bytes;
    };
    const clean = (await cut('cut=3')).toString();
    expect(clean.match(/data: /g)).toHaveLength(3);
    expect(clean).toMatch(/\n\n\r\n$/);
    expect((await cut('cut=3;cut_in=mid')).toString()).toMatch(/data: \{"id"[^\n]*\r\n$/);
    const inside = await cut('cut=1;cut_in=utf8');
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(inside)).toThrow(/not valid/);
  });

  it('breaks by closing, by a reset or by a well-formed end', async () => {
    await expect(post(sim, 'chat', { model: 'sim-chat:cut=2', stream: true })).rejects.toThrow();
    const reset = await rawExchange(
      sim,
      rawRequest('chat', { model: 'sim-chat:cut=2;cut_how=reset', stream: true }),
    );
    expect(reset.isReset).toBe(true);
    expect(payloads(await stream('messages', 'cut=2;cut_how=eof'))).toHaveLength(2);
    await expect(post(sim, 'chat', { model: 'sim-chat:cut=0' })).rejects.toThrow();
  });

  it('is silent for a while after n events, and slow between them', async () => {
    const started = performance.now();
    expect(await stream('chat', 'text=Hi;silent=50;silent_at=0')).toContain('[DONE]');
    expect(performance.now() - started).toBeGreaterThanOrEqual(49);
    const slow = performance.now();
    await stream('chat', 'text=Hi;delay=20');
    expect(performance.now() - slow).toBeGreaterThanOrEqual(59);
  });

  it.each(['endless;delay=1', 'endless'])(
    'never ends by itself (%s) and stops when the caller leaves',
    async (script) => {
      const answer = await request(`${sim.url}/v1/chat/completions`, {
        method: 'POST',
        headers: CREDENTIALS.chat,
        body: JSON.stringify(bodyOf('chat', { model: `sim-chat:${script}`, stream: true })),
      });
      let frames = 0;
      for await (const part of answer.body) {
        frames += String(part).split('data: ').length - 1;
        if (frames > 100) break;
      }
      while (!sim.requests()[0].aborted) await wait(1);
      expect(frames).toBeGreaterThan(100);
    },
  );
});

describe('the record', () => {
  it('keeps method, path, headers and body, over HTTP too, until it is reset', async () => {
    await post(sim, 'chat', { metadata: { a: 'b' } }, { 'x-test': '1' });
    const [seen] = sim.requests();
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      state: 'finished',
      aborted: false,
    });
    expect(seen.headers['x-test']).toBe('1');
    expect(JSON.parse(seen.body)).toEqual(bodyOf('chat', { metadata: { a: 'b' } }));
    const overHttp = await request(`${sim.url}/__sim/requests`);
    expect(await overHttp.body.json()).toMatchObject([{ path: '/v1/chat/completions', body: seen.body }]);
    await (await request(`${sim.url}/__sim/reset`, { method: 'POST' })).body.dump();
    expect(sim.requests()).toEqual([]);
  });

  it('has its next answers ordered by whoever started it, and every one after them', async () => {
    const own = await startUpstreamSim();
    own.script(['text=first', ''], 'error=500');
    const answers = [];
    for (let count = 0; count < 4; count += 1) answers.push(await post(own, 'chat'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 500, 500]);
    expect(firstChoice(answers[0].json)).toMatchObject({ message: { content: 'first' } });
    own.script([]);
    expect(own.requests()).toEqual([]);
    expect((await post(own, 'chat')).status).toBe(200);
    await own.close();
  });

  it('is bounded', async () => {
    const small = await startUpstreamSim({ record: 3 });
    for (let count = 0; count < 8; count += 1) await post(small, 'chat', { user: `u${count}` });
    expect(small.requests().map(({ body }) => /"user":"(u\d)"/.exec(body)?.[1])).toEqual(['u5', 'u6', 'u7']);
    await small.close();
  });
});

describe('large bodies under load', () => {
  it('are scanned for model and stream flag, at either end, where the options say so', async () => {
    const fast = await startUpstreamSim({ record: 0, scanLargeBodies: true });
    const large = { messages: [{ role: 'user', content: 'x'.repeat(100_000) }] };
    const plain = await post(fast, 'chat', { model: 'sim-chat:text=scanned', ...large });
    expect(firstChoice(plain.json)).toMatchObject({ message: { content: 'scanned' } });
    const streamed = await post(fast, 'messages', {
      model: 'sim-claude:text=scanned',
      ...large,
      stream: true,
    });
    expect(said(streamed.text)).toBe('scanned');
    expect(fast.requests()).toEqual([]);
    await fast.close();
  });

  it('are parsed and checked otherwise', async () => {
    const content = 'x'.repeat(1_000_000);
    const { json } = await post(sim, 'chat', { messages: [{ role: 'user', content }] });
    expect(at(json, 'usage', 'prompt_tokens')).toBe(250_000);
    expect((await post(sim, 'chat', { messages: [{ role: 'user', content }], top_k: 1 })).status).toBe(400);
  });

  it('connections are counted and all closed with the server', async () => {
    const own = await startUpstreamSim();
    await post(own, 'chat');
    expect(own.connections()).toEqual({ open: 1, accepted: 1 });
    await own.close();
    expect(own.connections().open).toBe(0);
    await expect(post(own, 'chat')).rejects.toThrow();
  });
});
