import { request, type Dispatcher } from 'undici';
import { lookAtPath, type UpstreamBody } from '@gateway/dialects';
import { testS3, type TestS3 } from '@gateway/testing';
import { provider } from './amazon-bedrock.provider.js';
import { accessFrom } from './aws-access.js';
import type { ProviderAccess } from '../provider.js';

const PATH = '/batch-objects/batches/batch-1/lines.jsonl';

describe('objects of Bedrock’s batches in a real store', () => {
  let store: TestS3;
  let access: ProviderAccess;

  beforeAll(async () => {
    store = await testS3();
    const env: Record<string, string> = {
      AWS_ACCESS_KEY_ID: store.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: store.credentials.secretAccessKey,
      AWS_BEDROCK_BATCH_BUCKET: store.bucket,
      AWS_BEDROCK_BATCH_ROLE_ARN: 'arn:aws:iam::123456789012:role/batches',
      AWS_ENDPOINT_URL_S3: `${store.endpoint}/`,
    };
    access = accessFrom((name) => env[name]) as ProviderAccess;
  });
  afterAll(() => store.close());

  async function send(body: UpstreamBody, by = access): Promise<Dispatcher.ResponseData> {
    const { method, url, headers, body: pieces } = await provider.prepare(body, by);
    const sent = method === 'GET' ? null : Buffer.concat(pieces);
    return request(url, { method, headers, body: sent });
  }

  const put = (text: string): UpstreamBody => {
    const pieces = text.match(/.{1,5}/gs)?.map((piece) => Buffer.from(piece)) ?? [];
    const type = { contentType: 'application/jsonl', accept: '*/*' };
    return { method: 'PUT', path: PATH, ...type, pieces, byteLength: text.length };
  };

  it('BAT-04 are written, written over and read again', async () => {
    for (const text of ['{"recordId":"LINE0000000"}\n', '{"recordId":"LINE0000001"}\n']) {
      const written = await send(put(text));
      expect([written.statusCode, await written.body.text()]).toEqual([200, '']);
      const read = await send({ ...lookAtPath(PATH), accept: '*/*' });
      expect([read.statusCode, await read.body.text()]).toEqual([200, text]);
    }
    const gone = await send({ ...lookAtPath(`${PATH}.out`), accept: '*/*' });
    await gone.body.dump();
    expect(gone.statusCode).toBe(404);
  });
});
