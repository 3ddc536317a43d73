import { createHash, createHmac } from 'node:crypto';
import { jsonBody, lookAtPath } from '@gateway/dialects';
import { accessFrom } from './aws-access.js';
import { provider } from './amazon-bedrock.provider.js';

const KEYS = {
  kind: 'aws' as const,
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalr/secret',
  sessionToken: 'session/1',
  region: 'eu-west-1',
};
const baseUrl = 'https://bedrock-runtime.us-east-1.amazonaws.com';
const body = jsonBody('/model/us.amazon.nova-2-lite-v1%3A0/converse', 'application/json', { messages: [] });
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');

describe('a request to Bedrock', () => {
  it('is signed for its region, the path encoded twice and the token included', async () => {
    const { headers, url } = await provider.prepare(body, { baseUrl, credential: KEYS });
    const found =
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/.exec(
        headers.authorization,
      );
    expect(url).toBe(
      'https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.amazon.nova-2-lite-v1%3A0/converse',
    );
    expect(headers['x-amz-security-token']).toBe('session/1');
    if (!found) throw new Error(headers.authorization);
    const [, day, names, signature] = found;
    expect(names.split(';')).toEqual(
      expect.arrayContaining(['host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token']),
    );
    const host = 'bedrock-runtime.eu-west-1.amazonaws.com';
    const canonical = [
      'POST',
      '/model/us.amazon.nova-2-lite-v1%253A0/converse',
      '',
      ...names.split(';').map((name) => `${name}:${name === 'host' ? host : headers[name].trim()}`),
      '',
      names,
      sha256(Buffer.concat(body.pieces)),
    ].join('\n');
    const scope = `${day}/eu-west-1/bedrock/aws4_request`;
    const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
    const key = ['eu-west-1', 'bedrock', 'aws4_request'].reduce<Buffer>(
      (from, part) => hmac(from, part),
      hmac(`AWS4${KEYS.secretAccessKey}`, day),
    );
    expect(signature).toBe(hmac(key, toSign).toString('hex'));
  });

  it('is signed without a token where there is none, with the port where there is one', async () => {
    const address = 'https://vpce-1.example:8443';
    const { headers } = await provider.prepare(body, {
      baseUrl: address,
      credential: { ...KEYS, sessionToken: null },
    });
    const names = /SignedHeaders=([\w;-]+)/.exec(headers.authorization)?.[1] ?? '';
    expect(headers['x-amz-security-token']).toBeUndefined();
    expect(names.split(';')).toEqual(expect.not.arrayContaining(['x-amz-security-token']));
    const canonical = [
      ...['POST', '/model/us.amazon.nova-2-lite-v1%253A0/converse', ''],
      ...names.split(';').map((name) => `${name}:${name === 'host' ? 'vpce-1.example:8443' : headers[name]}`),
      ...['', names, sha256(Buffer.concat(body.pieces))],
    ].join('\n');
    const day = headers['x-amz-date'].slice(0, 8);
    const scope = `${day}/eu-west-1/bedrock/aws4_request`;
    const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
    const signing = ['eu-west-1', 'bedrock', 'aws4_request'].reduce<Buffer>(
      (from, part) => hmac(from, part),
      hmac(`AWS4${KEYS.secretAccessKey}`, day),
    );
    expect(headers.authorization).toContain(`Signature=${hmac(signing, toSign).toString('hex')}`);
  });

  it('carries a bearer key as it is', async () => {
    const { headers } = await provider.prepare(body, {
      baseUrl,
      credential: { kind: 'api_key', key: 'bedrock-api-key-1' },
    });
    expect(headers).toMatchObject({ authorization: 'Bearer bedrock-api-key-1' });
    expect(headers['x-amz-date']).toBeUndefined();
  });

  it('stays at an address that the operator chose', async () => {
    const { url } = await provider.prepare(body, { baseUrl: 'https://vpce-1.example', credential: KEYS });
    expect(url).toBe('https://vpce-1.example/model/us.amazon.nova-2-lite-v1%3A0/converse');
  });

  it('reads the usual variables, the bearer key first', () => {
    const env = { AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'S', AWS_REGION: 'ap-south-1' };
    const read = (from: Record<string, string>) => (name: string) => from[name];
    expect(accessFrom(read(env))).toEqual({
      baseUrl: 'https://bedrock-runtime.ap-south-1.amazonaws.com',
      credential: {
        kind: 'aws',
        accessKeyId: 'AK',
        secretAccessKey: 'S',
        sessionToken: null,
        region: 'ap-south-1',
      },
    });
    expect(accessFrom(read({ ...env, AWS_BEARER_TOKEN_BEDROCK: 'b' }))?.credential).toEqual({
      kind: 'api_key',
      key: 'b',
    });
    expect(accessFrom(read({ AWS_REGION: 'ap-south-1' }))).toBeUndefined();
    for (const [name, value] of [
      ['AWS_ACCESS_KEY_ID', 'AK'],
      ['AWS_SECRET_ACCESS_KEY', 'S'],
    ])
      expect(() => accessFrom(read({ [name]: value }))).toThrow(
        /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/,
      );
  });

  const PLACE = {
    AWS_BEDROCK_BATCH_BUCKET: 'lines.of.ours',
    AWS_BEDROCK_BATCH_ROLE_ARN: 'arn:aws:iam::123456789012:role/batches',
  };

  it('for a job goes to the region’s address of jobs, one for an object to the store, and both are signed', async () => {
    const env: Record<string, string> = { AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'S', ...PLACE };
    const access = accessFrom((name) => ({ ...env, AWS_REGION: 'eu-west-1' })[name]);
    if (!access) throw new Error('not enabled');
    const job = await provider.prepare(
      lookAtPath('/model-invocation-jobs?nameContains=a&maxResults=100'),
      access,
    );
    expect(job.url).toBe(
      'https://bedrock.eu-west-1.amazonaws.com/model-invocation-jobs?nameContains=a&maxResults=100',
    );
    expect(job.headers.authorization).toContain('/eu-west-1/bedrock/aws4_request');
    const object = await provider.prepare(lookAtPath('/batch-objects/batches/b/lines.jsonl'), access);
    expect(object.url).toBe('https://s3.eu-west-1.amazonaws.com/lines.of.ours/batches/b/lines.jsonl');
    expect(object.headers.authorization).toContain('/eu-west-1/s3/aws4_request');
  });

  it('for an object is not made without a bucket', async () => {
    const asked = async (): Promise<unknown> =>
      provider.prepare(lookAtPath('/batch-objects/x'), { baseUrl, credential: KEYS });
    await expect(asked()).rejects.toThrow('no bucket');
  });

  it('half a place of batches, a wrong one, and one beside a bearer key are faults that name their variable', () => {
    const env = { AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'S' };
    const of = (more: Record<string, string>) => () =>
      accessFrom((name) => ({ ...env, ...more })[name as 'AWS_ACCESS_KEY_ID']);
    const { AWS_BEDROCK_BATCH_BUCKET, AWS_BEDROCK_BATCH_ROLE_ARN } = PLACE;
    expect(of({ AWS_BEDROCK_BATCH_BUCKET })).toThrow('AWS_BEDROCK_BATCH_ROLE_ARN');
    expect(of({ AWS_BEDROCK_BATCH_ROLE_ARN })).toThrow('AWS_BEDROCK_BATCH_BUCKET');
    expect(of({ ...PLACE, AWS_BEDROCK_BATCH_BUCKET: '../other' })).toThrow('AWS_BEDROCK_BATCH_BUCKET');
    expect(of({ ...PLACE, AWS_BEARER_TOKEN_BEDROCK: 'b' })).toThrow('opens no bucket');
    expect(of({ ...PLACE, AWS_ENDPOINT_URL_S3: 'store' })).toThrow('AWS_ENDPOINT_URL_S3');
    expect(of(PLACE)()?.batchPlace).toEqual({
      bucket: AWS_BEDROCK_BATCH_BUCKET,
      roleArn: AWS_BEDROCK_BATCH_ROLE_ARN,
      endpoint: null,
    });
  });
});
