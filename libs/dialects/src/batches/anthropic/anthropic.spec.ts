import { jsonBody } from '../../translation/upstream-body.js';
import { calls, textOf } from '../batch-calls.fixture.js';
import { dialect } from './anthropic.dialect.js';

type Json = Record<string, unknown>;

const NAME = 'batch_01980000-0000-7000-8000-000000000001';
const VERSION = { 'anthropic-version': '2023-06-01' };
const at = (second: number): string => new Date(1_700_000_000_000 + second * 1_000).toISOString();

function batch(id: string, second: number, count: number, more: Json = {}): Json {
  const request_counts = { processing: count, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  return { id, created_at: at(second), processing_status: 'in_progress', request_counts, ...more };
}

describe('the message batches of Anthropic', () => {
  it('takes requests for messages, and begins with its lines', async () => {
    expect(['/messages', '/models/x:rawPredict', '/chat/completions'].map(dialect.takes)).toEqual([
      true,
      false,
      false,
    ]);
    const request = jsonBody('/messages', 'application/json', { model: 'm', max_tokens: 1 });
    const lines = Buffer.concat([dialect.line(0, request, NAME), dialect.line(49_999, request, NAME)]);
    const to = calls([{ id: 'msgbatch_1' }]);
    expect(await dialect.create(to, { name: NAME, file: '', path: '/messages', lines })).toBe('msgbatch_1');
    const [sent] = to.sent;
    expect(sent).toMatchObject({ path: '/messages/batches', headers: VERSION });
    expect(textOf(sent).length).toBe(sent.byteLength);
    const params = { model: 'm', max_tokens: 1 };
    expect(JSON.parse(textOf(sent))).toEqual({
      requests: [
        { custom_id: `${NAME}_0`, params },
        { custom_id: `${NAME}_49999`, params },
      ],
    });
    expect(`${NAME}_49999`).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('knows what came before its batch, and finds what may be it among what came after', async () => {
    const mark = await dialect.upload(calls([{ data: [batch('old', 5, 3)] }]), [], NAME);
    const listed = calls([
      { data: [batch('d', 9, 3), batch('c', 8, 4)], has_more: true, last_id: 'c' },
      {
        data: [batch('b', 7, 3), batch('a', 5, 3), batch('old', 5, 3), batch('older', 4, 3)],
        has_more: true,
      },
    ]);
    const sought = { name: NAME, file: mark, count: 3, sinceSeconds: 0 };
    expect(await dialect.find(listed, sought)).toEqual(['d', 'b', 'a']);
    expect(listed.sent.map(({ path }) => path)).toEqual([
      '/messages/batches?limit=100',
      '/messages/batches?limit=100&after_id=c',
    ]);
    const gone = calls([{ data: [batch('older', 4, 3)], has_more: true }]);
    expect(await dialect.find(gone, sought)).toEqual([]);
    const ended = { processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 1 };
    const data = [batch('e', 9, 3, { request_counts: ended, processing_status: 'ended' }), batch('f', 9, 0)];
    expect(await dialect.find(calls([{ data, has_more: false }]), sought)).toEqual(['e', 'f']);
  });

  it('looks through all where there was none before, and waits for no more than twenty', async () => {
    expect(await dialect.upload(calls([{ data: [], has_more: false }]), [], NAME)).toBe('');
    const data = Array.from({ length: 30 }, (_, n) => batch(`m${n}`, 100 - n, 2));
    const sought = { name: NAME, file: '', count: 2, sinceSeconds: 0 };
    const found = await dialect.find(calls([{ data, has_more: false }]), sought);
    expect([found.length, found.at(-1)]).toEqual([20, 'm29']);
  });

  it('names where the answers are by its own path, whatever address the provider names', async () => {
    for (const processing_status of ['in_progress', 'canceling'])
      expect(await dialect.look(calls([{ processing_status }]), 'm1')).toBeNull();
    const ended = { processing_status: 'ended', results_url: 'http://169.254.169.254/latest' };
    const files = await dialect.look(calls([ended]), 'm/1');
    expect(files).toMatchObject([
      { method: 'GET', path: '/messages/batches/m%2F1/results', headers: VERSION },
    ]);
    expect(files?.[0].url).toBeUndefined();
    expect(await dialect.look(calls([{ ...ended, results_url: null }]), 'm1')).toEqual([]);
  });

  it('cancels what runs, and leaves what has ended', async () => {
    const running = calls([{ processing_status: 'in_progress' }]);
    await dialect.cancel(running, 'm1');
    expect(running.sent.map(({ path }) => path)).toEqual([
      '/messages/batches/m1',
      '/messages/batches/m1/cancel',
    ]);
    const ended = calls([{ processing_status: 'ended' }]);
    await dialect.cancel(ended, 'm1');
    expect(ended.sent).toHaveLength(1);
  });

  const line = (result: Json, custom_id: unknown = `${NAME}_3`): string =>
    JSON.stringify({ custom_id, result });
  const said = line({ type: 'succeeded', message: { id: 'msg_1' } });

  it('BAT-04 reads answers and failures of its own lines, and takes nothing else for one', () => {
    expect(dialect.answer(said, NAME)).toEqual({ line: 3, status: 200, body: '{"id":"msg_1"}' });
    const failed = (type: string): string => {
      return line({ type: 'errored', error: { type: 'error', error: { type, message: 'no' } } });
    };
    const types = ['invalid_request_error', 'overloaded_error', 'rate_limit_error', 'api_error', 'new_error'];
    expect(types.map((type) => dialect.answer(failed(type), NAME)?.status)).toEqual([
      400, 529, 429, 500, 500,
    ]);
    const none = [
      line({ type: 'canceled' }),
      line({ type: 'expired' }),
      line({ type: 'succeeded', message: null }),
      line({ type: 'succeeded', message: {} }, '3'),
      line({ type: 'succeeded', message: {} }, `${NAME.slice(0, -1)}2_3`),
      line({ type: 'succeeded', message: {} }, `${NAME}_-1`),
      line({ type: 'succeeded', message: {} }, `${NAME}_3 `),
      line({ type: 'succeeded', message: {} }, 3),
      said.slice(0, -1),
      '[]',
    ];
    expect(none.map((text) => dialect.answer(text, NAME))).toEqual(none.map(() => null));
  });

  it('keeps its own lines apart from those of another batch, and both from what is no line', () => {
    const owns = (text: string): boolean | null | undefined => dialect.owns?.(text, NAME);
    expect([said, line({ type: 'expired' })].map(owns)).toEqual([true, true]);
    expect([line({}, '3'), line({}, 'batch_x_3'), line({}, `${NAME}_x`)].map(owns)).toEqual([
      false,
      false,
      false,
    ]);
    expect(['', '{}', 'null', '{"custom_id":"a"}'].map(owns)).toEqual([null, null, null, null]);
  });
});
