import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { UpstreamRequest } from '../transport.js';
import type { AwsCredential } from './aws-access.js';

type SourceData = string | ArrayBuffer | ArrayBufferView;

/** SHA-256 as the signer asks for it: keyed or not. */
class Sha256 {
  private hash: Hash | Hmac;

  constructor(private readonly secret?: SourceData) {
    this.hash = this.made();
  }

  update(data: SourceData): void {
    this.hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.hash.digest());
  }

  reset(): void {
    this.hash = this.made();
  }

  private made(): Hash | Hmac {
    return this.secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(this.secret));
  }
}

function bytesOf(data: SourceData): Buffer {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}

/** The request with its signature (AWS Signature Version 4, service bedrock); the path is signed as it is sent. */
export async function signed(
  request: UpstreamRequest,
  { accessKeyId, secretAccessKey, sessionToken, region }: AwsCredential,
): Promise<UpstreamRequest> {
  const url = new URL(request.url);
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
  const signer = new SignatureV4({ credentials, region, service: 'bedrock', sha256: Sha256 });
  const { headers } = await signer.sign({
    method: request.method,
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    path: url.pathname,
    query: {},
    headers: { ...request.headers, host: url.host },
    body: Buffer.concat(request.body),
  });
  // The transport sets the host by itself, from the same address.
  const { host: _host, ...sent } = headers;
  return { ...request, headers: sent };
}
