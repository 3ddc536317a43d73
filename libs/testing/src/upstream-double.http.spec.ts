import { eventually } from './eventually.js';
import { startUpstreamDouble, type UpstreamDouble } from './upstream-double.js';

describe('startUpstreamDouble', () => {
  let upstream: UpstreamDouble;
  beforeEach(async () => (upstream = await startUpstreamDouble()));
  afterEach(() => upstream.close());

  const post = (path = '/', body = ''): Promise<Response> =>
    fetch(`${upstream.url}${path}`, { method: 'POST', body, headers: { 'x-own': 'yes' } });

  it('keeps what it was sent and answers JSON', async () => {
    upstream.answer = ({ path }) => ({ status: 201, headers: { 'x-a': 'b' }, json: { path } });
    const answer = await post('/v1/x?q=%zz', '{"a":1}');
    expect([answer.status, answer.headers.get('x-a')]).toEqual([201, 'b']);
    expect(await answer.json()).toEqual({ path: '/v1/x?q=%zz' });
    const [{ method, headers, body }] = upstream.seen;
    expect([method, headers['x-own'], body.toString()]).toEqual(['POST', 'yes', '{"a":1}']);
  });

  it('sends pieces; ends, resets or stalls after the last', async () => {
    upstream.answer = () => ({ pieces: ['a', Buffer.from('b')] });
    expect(await (await post()).text()).toBe('ab');
    upstream.answer = () => ({ pieces: ['a'], gapMs: 1, ending: 'reset' });
    await expect(post().then((answer) => answer.text())).rejects.toThrow();
    upstream.answer = () => ({ pieces: ['a'], ending: 'stall' });
    const stalled = (await post()).body?.getReader();
    expect(Buffer.from((await stalled?.read())?.value ?? [])).toEqual(Buffer.from('a'));
    expect(upstream.open()).toBe(1);
    await stalled?.cancel();
    await eventually(() => upstream.open() === 0);
  });

  it('stops writing when its reader has gone', async () => {
    let written = 0;
    const endless = function* (): Generator<Buffer> {
      for (;;) {
        written += 1;
        yield Buffer.alloc(65_536);
      }
    };
    upstream.answer = () => ({ pieces: endless() });
    await (await post()).body?.cancel();
    await eventually(() => upstream.open() === 0);
    const before = written;
    await post('/again').then((answer) => answer.body?.cancel());
    await eventually(() => upstream.open() === 0);
    expect(written).toBeGreaterThan(before);
  });

  it('resets before an answer, sends what is no HTTP, or says nothing', async () => {
    upstream.answer = () => ({ fault: 'reset' });
    await expect(post()).rejects.toThrow();
    upstream.answer = () => ({ raw: 'not http at all\r\n\r\n' });
    await expect(post()).rejects.toThrow();
    upstream.answer = () => ({ fault: 'silence' });
    const caller = new AbortController();
    const silent = fetch(upstream.url, { signal: caller.signal });
    await eventually(() => upstream.open() === 1);
    caller.abort();
    await expect(silent).rejects.toThrow();
  });
});
