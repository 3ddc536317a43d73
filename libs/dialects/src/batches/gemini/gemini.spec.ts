import { jsonBody } from '../../translation/upstream-body.js';
import { calls, textOf } from '../batch-calls.fixture.js';
import { dialect } from './gemini.dialect.js';

type Json = Record<string, unknown>;

const OURS = { name: 'batch_x', file: 'files/in', path: '/models/gemini-2.5-flash:generateContent' };
const LINES = new Uint8Array(0);

describe('the batches of Google', () => {
  it('takes requests for content of one model', () => {
    const paths = [OURS.path, '/models/m:streamGenerateContent', '/models/m:batchEmbedContents', '/messages'];
    expect(paths.map(dialect.takes)).toEqual([true, false, false, false]);
  });

  it('uploads the lines as one file in one request', async () => {
    const request = jsonBody(OURS.path, 'application/json', { contents: [] });
    const lines = [0, 7].map((number) => dialect.line(number, request, OURS.name));
    const to = calls([{ file: { name: 'files/abc-1', uri: 'http://10.0.0.1/' } }]);
    expect(await dialect.upload(to, lines, OURS.name)).toBe('files/abc-1');
    const [sent] = to.sent;
    expect(sent).toMatchObject({
      path: '/upload/v1beta/files',
      contentType: 'multipart/related; boundary=lines-of-batch_x',
      headers: { 'x-goog-upload-protocol': 'multipart' },
    });
    const text = textOf(sent);
    expect(text.length).toBe(sent.byteLength);
    expect(text.split('--lines-of-batch_x')).toEqual([
      '',
      '\r\nContent-Type: application/json\r\n\r\n{"file":{"display_name":"batch_x"}}\r\n',
      '\r\nContent-Type: application/jsonl\r\n\r\n' +
        '{"key":"0","request":{"contents":[]}}\n{"key":"7","request":{"contents":[]}}\n\r\n',
      '--\r\n',
    ]);
  });

  it('begins a batch under our name, and finds it again by that on whichever page', async () => {
    const to = calls([{ name: 'batches/b1' }]);
    expect(await dialect.create(to, { ...OURS, lines: LINES })).toBe('batches/b1');
    expect(to.sent[0].path).toBe('/models/gemini-2.5-flash:batchGenerateContent');
    expect(JSON.parse(textOf(to.sent[0]))).toEqual({
      batch: { display_name: 'batch_x', input_config: { file_name: 'files/in' } },
    });
    const operation = (name: string, displayName: string): Json => ({ name, metadata: { displayName } });
    const pages = calls([
      { operations: [operation('batches/b0', 'other')], nextPageToken: 'p 2' },
      { operations: [operation('batches/b1', 'batch_x')], nextPageToken: 'p3' },
    ]);
    const sought = { ...OURS, count: 2, sinceSeconds: 0 };
    expect(await dialect.find(pages, sought)).toEqual(['batches/b1']);
    expect(pages.sent.map(({ path }) => path)).toEqual([
      '/batches?pageSize=100',
      '/batches?pageSize=100&pageToken=p%202',
    ]);
    expect(await dialect.find(calls([{}]), sought)).toEqual([]);
  });

  it('names where the answers are once it has ended, in whichever way', async () => {
    for (const state of ['BATCH_STATE_PENDING', 'BATCH_STATE_RUNNING'])
      expect(
        await dialect.look(calls([{ name: 'batches/b1', metadata: { state } }]), 'batches/b1'),
      ).toBeNull();
    const done = { done: true, response: { responsesFile: 'files/out' } };
    const files = await dialect.look(calls([done]), 'batches/b1');
    expect(files).toMatchObject([{ method: 'GET', path: '/download/v1beta/files/out:download?alt=media' }]);
    const expired = { metadata: { state: 'BATCH_STATE_EXPIRED', output: { responsesFile: 'files/out' } } };
    expect(await dialect.look(calls([expired]), 'batches/b1')).toHaveLength(1);
    expect(await dialect.look(calls([{ done: true, error: { code: 1 } }]), 'batches/b1')).toEqual([]);
  });

  it('calls no address that an answer makes up', async () => {
    for (const name of ['files/../../v1/x', 'http://169.254.169.254/', 'files/', 'batches/b'])
      await expect(dialect.upload(calls([{ file: { name } }]), [], 'n')).rejects.toThrow('none of its files');
    const away = { done: true, response: { responsesFile: 'files/x?alt=sse&' } };
    await expect(dialect.look(calls([away]), 'batches/b1')).rejects.toThrow('none of its files');
    const batch = { ...OURS, lines: LINES };
    await expect(dialect.create(calls([{ name: 'batches/../models' }]), batch)).rejects.toThrow(
      'of its batches',
    );
  });

  it('cancels what runs, and leaves what has ended', async () => {
    const running = calls([{ metadata: { state: 'BATCH_STATE_RUNNING' } }]);
    await dialect.cancel(running, 'batches/b1');
    expect(running.sent.map(({ path }) => path)).toEqual(['/batches/b1', '/batches/b1:cancel']);
    const ended = calls([{ done: true }]);
    await dialect.cancel(ended, 'batches/b1');
    expect(ended.sent).toHaveLength(1);
  });

  it('BAT-04 reads answers and failures of lines, and takes nothing else for one', () => {
    const answer = (value: unknown): unknown => dialect.answer(JSON.stringify(value), OURS.name);
    expect(answer({ key: '3', response: { candidates: [] } })).toEqual({
      line: 3,
      status: 200,
      body: '{"candidates":[]}',
    });
    const codes = [3, 8, 13, 14, 400, 503, 0, 'x'];
    const failed = codes.map(
      (code) => answer({ key: '3', error: { code, message: 'no' } }) as { status: number },
    );
    expect(failed.map(({ status }) => status)).toEqual([400, 429, 500, 503, 400, 503, 500, 500]);
    expect(JSON.parse((failed[0] as unknown as { body: string }).body)).toEqual({
      error: { code: 3, message: 'no' },
    });
    const none = [
      { key: '3', error: { code: 1 } },
      { key: '3' },
      { key: 3, response: {} },
      { response: {} },
      [],
    ];
    expect(none.map(answer)).toEqual(none.map(() => null));
    expect(dialect.answer('{"key":"3","resp', OURS.name)).toBeNull();
  });
});
