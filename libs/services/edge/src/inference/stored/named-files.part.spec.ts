import { jest } from '@jest/globals';
import { ApiError, callerFile } from '@gateway/contracts';
import { Pressure } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import { hello, testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './stored.fixture.js';

const edge = tenantOf(started, 'named_files');

const PDF = Buffer.from('%PDF-1.4 a page');
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');
const TEXT = Buffer.from('Red foxes sleep by day.');
const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;

async function upload(id: string, filename: string, bytes: Buffer): Promise<void> {
  async function* content(): AsyncIterable<Uint8Array> {
    yield bytes;
  }
  await edge.objects.put(callerFile(edge.accountId, id), content(), { maxBytes: 16 << 20 });
  edge.responses.known.set(id, {
    key_id: edge.keyId,
    account_id: edge.accountId,
    filename,
    bytes: bytes.byteLength,
  });
}

/** The body of the last request that reached the upstream. */
const sent = (): Json => JSON.parse(edge.upstream().at(-1)?.body ?? '{}') as Json;
const asking = (content: unknown[]): Json => ({ messages: [{ role: 'user', content }] });
const chat = (id: string): Json => ({
  model: 'acme/chat',
  ...asking([{ type: 'file', file: { file_id: id } }]),
});

async function refused(path: string, body: Json, key?: string): Promise<unknown[]> {
  const response = await edge.post(body, { path, ...(key === undefined ? {} : { key }) });
  const { error } = (await response.json()) as { error: Json };
  return [response.status, error.code, edge.upstream().length];
}

describe('a request that names a file of /v1/files', () => {
  beforeAll(async () => {
    const modalities = { input_modalities: ['text', 'image', 'file'] };
    const [chat, claude] = ['simulated', 'simulated-messages'];
    edge.serveModels(
      testModel('acme/chat', [{ provider: chat, upstreamModel: 'sim-chat' }], modalities),
      testModel(
        'acme/claude',
        [{ provider: claude, upstreamModel: 'sim-claude', dialect: 'messages' }],
        modalities,
      ),
    );
    await upload('file-pdf', 'page.pdf', PDF);
    await upload('file-png', 'fox.png', PNG);
    await upload('file-text', 'foxes.md', TEXT);
  });
  beforeEach(() => edge.sim.reset());

  it('chat completions send its bytes, with the name that it was uploaded under', async () => {
    expect((await edge.post(chat('file-pdf'))).status).toBe(200);
    const file = { filename: 'page.pdf', file_data: dataUrl('application/pdf', PDF) };
    expect(sent().messages).toEqual([{ role: 'user', content: [{ type: 'file', file }] }]);
  });

  it('responses send documents and images, in the answers of functions too', async () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' };
    const output = [{ type: 'input_image', file_id: 'file-png', detail: 'low' }];
    const input = [
      { role: 'user', content: [{ type: 'input_file', file_id: 'file-pdf', filename: 'mine.pdf' }] },
      call,
      { type: 'function_call_output', call_id: 'c1', output },
    ];
    const body = { model: 'acme/chat', input, store: false };
    expect((await edge.post(body, { path: '/v1/responses' })).status).toBe(200);
    const text = JSON.stringify(sent());
    expect(text).toContain(`"filename":"mine.pdf","file_data":"${dataUrl('application/pdf', PDF)}"`);
    expect(text).toContain(`{"url":"${dataUrl('image/png', PNG)}","detail":"low"}`);
    expect(text).not.toContain('file-p');
  });

  it('messages send what the bytes are: a PDF, an image, a text', async () => {
    const block = (type: string, file_id: string): Json => ({ type, source: { type: 'file', file_id } });
    const blocks = [
      block('document', 'file-pdf'),
      block('image', 'file-png'),
      block('document', 'file-text'),
    ];
    const body = { model: 'acme/claude', max_tokens: 9, ...asking(blocks) };
    expect((await edge.post(body, { path: '/v1/messages' })).status).toBe(200);
    const base64 = (media_type: string, bytes: Buffer): Json => {
      return { type: 'base64', media_type, data: bytes.toString('base64') };
    };
    const [{ content }] = sent().messages as { content: Json[] }[];
    expect(content).toMatchObject([
      { type: 'document', title: 'page.pdf', source: base64('application/pdf', PDF) },
      { type: 'image', source: base64('image/png', PNG) },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: String(TEXT) } },
    ]);
  });

  it('a stored response keeps the id, and the next turn sends the bytes again', async () => {
    const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-pdf' }] }];
    const first = await edge.post({ model: 'acme/chat', input }, { path: '/v1/responses' });
    const { id } = (await first.json()) as { id: string };
    const kept = edge.responses.kept.find((one) => one.id === id);
    expect(kept?.input).toEqual(input);
    const next = { model: 'acme/chat', input: 'And?', previous_response_id: id };
    expect((await edge.post(next, { path: '/v1/responses' })).status).toBe(200);
    expect(JSON.stringify(sent())).toContain(dataUrl('application/pdf', PDF));
  });

  it('counts of tokens see the file, not its id', async () => {
    const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-pdf' }] }];
    const answer = await edge.post({ model: 'acme/chat', input }, { path: '/v1/responses/input_tokens' });
    expect(((await answer.json()) as { input_tokens: number }).input_tokens).toBeGreaterThanOrEqual(1_000);
  });

  it('ERR-32 404 resource_not_found for a file that is not there, or another key’s, and no provider gets the id', async () => {
    const missing = [404, 'resource_not_found', 0];
    const other = edge.addKey(testPrincipal('key_of_another'));
    expect(await refused('/v1/chat/completions', chat('file-none'))).toEqual(missing);
    expect(await refused('/v1/chat/completions', chat('file-pdf'), other)).toEqual(missing);
    const looks = jest.spyOn(edge.responses, 'files');
    for (const id of ['a\u0000b', '\ud800', 'x'.repeat(129), '../x', '']) {
      const [status, , calls] = await refused('/v1/chat/completions', chat(id));
      expect([id, status === 404 || (id === '' && status === 422), calls]).toEqual([id, true, 0]);
    }
    expect(looks.mock.calls).toEqual([]);
    looks.mockRestore();
    const source = { type: 'file', file_id: 'file-none' };
    const messages = { model: 'acme/claude', max_tokens: 9, ...asking([{ type: 'document', source }]) };
    expect(await refused('/v1/messages', messages)).toEqual(missing);
    edge.responses.known.set('file-gone', {
      ...{ key_id: edge.keyId, account_id: edge.accountId, filename: 'gone.pdf', bytes: 3 },
    });
    expect(await refused('/v1/chat/completions', chat('file-gone'))).toEqual(missing);
  });

  it('400 invalid_input for files that are together larger than a body may be, and for too many', async () => {
    const large = { key_id: edge.keyId, account_id: edge.accountId, filename: 'a.pdf', bytes: 25 << 20 };
    edge.responses.known.set('file-large', large);
    expect(await refused('/v1/chat/completions', chat('file-large'))).toEqual([400, 'invalid_input', 0]);
    // In a place that no reader looks at, too: it costs as much there.
    const place = { type: 'input_file', file_id: 'file-half' };
    await upload('file-half', 'half.pdf', Buffer.alloc(13 << 20, '%PDF-'));
    const user = (times: number): Json => ({ role: 'user', content: Array<Json>(times).fill(place) });
    const hidden = { type: 'reasoning', summary: [], content: Array<Json>(3_000).fill(place) };
    for (const input of [[user(2)], [user(1), hidden]]) {
      const body = { model: 'acme/chat', input, store: false };
      expect(await refused('/v1/responses', body)).toEqual([400, 'invalid_input', 0]);
    }
    const part = (at: number): Json => ({ type: 'file', file: { file_id: `file-${at}` } });
    const many = { ...hello('acme/chat'), ...asking(Array.from({ length: 33 }, (_, at) => part(at))) };
    expect(await refused('/v1/chat/completions', many)).toEqual([400, 'invalid_input', 0]);
  });

  it('U15 503 what files hold counts like bodies: refused past the bound before they are read, released with the answer', async () => {
    const pressure = edge.app.app.get(Pressure, { strict: false });
    const held = jest.spyOn(pressure, 'buffered');
    expect((await edge.post(chat('file-pdf'))).status).toBe(200);
    expect(held.mock.calls).toEqual([[PDF.byteLength]]);
    await eventually(() => pressure.bodyBytesInFlight === 0);
    const read = jest.spyOn(edge.objects, 'get');
    const rejection = jest
      .spyOn(pressure, 'rejectionOfMore')
      .mockImplementation((bytes) =>
        bytes === PDF.byteLength ? new ApiError('service_unavailable', { retryAfterSeconds: 1 }) : null,
      );
    const before = edge.upstream().length;
    expect(await refused('/v1/chat/completions', chat('file-pdf'))).toEqual([
      503,
      'service_unavailable',
      before,
    ]);
    expect([read.mock.calls, held.mock.calls.length, pressure.bodyBytesInFlight]).toEqual([[], 1, 0]);
    for (const spy of [held, read, rejection]) spy.mockRestore();
  });
});
