import { jsonBody } from '../../translation/upstream-body.js';
import { calls, textOf } from '../batch-calls.fixture.js';
import { dialect } from './openai.dialect.js';

type Json = Record<string, unknown>;

const NO_LINES = new Uint8Array(0);
const OURS = { name: 'ours', file: 'file-1', count: 1 };

describe('the batches of OpenAI', () => {
  it('takes requests of the endpoints that OpenAI runs in batches', () => {
    expect(['/chat/completions', '/responses', '/embeddings'].every(dialect.takes)).toBe(true);
    expect(dialect.takes('/images/edits')).toBe(false);
  });

  it('writes a request as a line whose body is the request’s own bytes', () => {
    const request = jsonBody('/chat/completions', 'application/json', { model: 'm', messages: [] });
    expect(Buffer.from(dialect.line(12, request, 'ours')).toString()).toBe(
      '{"custom_id":"12","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[]}}\n',
    );
  });

  it('uploads the lines as one file that the provider removes by itself', async () => {
    const to = calls([{ id: 'file-1' }]);
    const lines = [Buffer.from('{"a":1}\n'), Buffer.from('{"b":2}\n')];
    expect(await dialect.upload(to, lines, 'batch_x')).toBe('file-1');
    const [request] = to.sent;
    expect(request).toMatchObject({
      path: '/files',
      contentType: 'multipart/form-data; boundary=lines-of-batch_x',
    });
    const text = textOf(request);
    expect(text.length).toBe(request.byteLength);
    expect(text).toContain('name="purpose"\r\n\r\nbatch\r\n');
    expect(text).toContain('name="expires_after[seconds]"\r\n\r\n259200\r\n');
    expect(text).toContain('{"a":1}\n{"b":2}\n\r\n--lines-of-batch_x--');
  });

  it('begins a batch under our name, and finds it again by that', async () => {
    const to = calls([{ id: 'batch_1' }]);
    const id = await dialect.create(to, { ...OURS, path: '/responses', lines: NO_LINES });
    expect([id, to.sent[0].path, JSON.parse(textOf(to.sent[0]))]).toEqual([
      'batch_1',
      '/batches',
      {
        input_file_id: 'file-1',
        endpoint: '/v1/responses',
        completion_window: '24h',
        metadata: { client_batch: 'ours' },
        output_expires_after: { anchor: 'created_at', seconds: 259_200 },
      },
    ]);
    const other = { id: 'b0', created_at: 2_000, metadata: { client_batch: 'other' } };
    const listed = calls([
      { data: [other], has_more: true },
      { data: [{ id: 'b1', created_at: 1_900, metadata: { client_batch: 'ours' } }], has_more: true },
    ]);
    expect(await dialect.find(listed, { ...OURS, sinceSeconds: 1_950 })).toEqual(['b1']);
    expect(listed.sent.map(({ path }) => path)).toEqual([
      '/batches?limit=100',
      '/batches?limit=100&after=b0',
    ]);
  });

  it('looks no further than the time before which ours was not begun', async () => {
    const old = { id: 'b0', created_at: 1_000, metadata: null };
    const to = calls([{ data: [old], has_more: true }]);
    expect(await dialect.find(to, { ...OURS, sinceSeconds: 1_601 })).toEqual([]);
    expect(to.sent).toHaveLength(1);
    const none = calls([{ data: [], has_more: false }]);
    expect(await dialect.find(none, { ...OURS, sinceSeconds: 0 })).toEqual([]);
  });

  it('names where the answers are once it has ended, in whichever way', async () => {
    for (const status of ['validating', 'in_progress', 'finalizing', 'cancelling'])
      expect(await dialect.look(calls([{ status }]), 'b1')).toBeNull();
    const ended = { status: 'expired', output_file_id: 'f1', error_file_id: 'f2' };
    const files = await dialect.look(calls([ended]), 'b1');
    expect(files?.map(({ path, method }) => [method, path])).toEqual([
      ['GET', '/files/f1/content'],
      ['GET', '/files/f2/content'],
    ]);
    expect(await dialect.look(calls([{ status: 'failed', output_file_id: null }]), 'b1')).toEqual([]);
  });

  it('cancels what runs, and leaves what has ended', async () => {
    const running = calls([{ status: 'in_progress' }]);
    await dialect.cancel(running, 'b1');
    expect(running.sent.map(({ path }) => path)).toEqual(['/batches/b1', '/batches/b1/cancel']);
    const ended = calls([{ status: 'completed' }]);
    await dialect.cancel(ended, 'b1');
    expect(ended.sent).toHaveLength(1);
  });

  it('reads answers and failures of lines, and takes nothing else for one', () => {
    const line = (more: Json): string =>
      JSON.stringify({
        custom_id: '3',
        response: { status_code: 200, body: { a: 1 } },
        error: null,
        ...more,
      });
    expect(dialect.answer(line({}), 'ours')).toEqual({ line: 3, status: 200, body: '{"a":1}' });
    const refused = { status_code: 400, body: { error: { message: 'no' } } };
    expect(dialect.answer(line({ response: refused }), 'ours')).toMatchObject({ status: 400 });
    const none = [
      line({ response: null }),
      line({ custom_id: 'x' }),
      line({ custom_id: '-1' }),
      'no json',
      '[]',
    ];
    expect(none.map((text) => dialect.answer(text, 'ours'))).toEqual([null, null, null, null, null]);
    expect(dialect.answer(line({ response: { status_code: 99, body: {} } }), 'ours')).toBeNull();
  });

  it('refuses an answer that names no id', async () => {
    const batch = { name: 'a', file: 'b', path: 'c', lines: NO_LINES };
    await expect(dialect.create(calls([{}]), batch)).rejects.toThrow('no id');
    // Half of a pair of surrogates, which no address holds.
    await expect(dialect.create(calls([{ id: 'b\ud800' }]), batch)).rejects.toThrow('no id');
    const ended = { status: 'completed', output_file_id: 'f\ud800' };
    await expect(dialect.look(calls([ended]), 'b1')).rejects.toThrow('no id');
  });
});
