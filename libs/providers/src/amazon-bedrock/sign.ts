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

/** The signer gives texts and Uint8Array, and `Buffer.from` takes both. */
function bytesOf(data: SourceData): Buffer {
  return Buffer.from(data as Uint8Array);
}

/** The request with its signature (AWS Signature Version 4); the path is signed as it is sent, for S3 not encoded again. */
export async function signed(
  request: UpstreamRequest,
  { accessKeyId, secretAccessKey, sessionToken, region }: Omit<AwsCredential, 'kind'>,
  service: 'bedrock' | 's3',
): Promise<UpstreamRequest> {
  const url = new URL(request.url);
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
  const uriEscapePath = service === 'bedrock';
  const signer = new SignatureV4({ credentials, region, service, sha256: Sha256, uriEscapePath });
  const digest = createHash('sha256');
  // Lines of a batch together are large, and are not copied.
  for (const piece of request.body) digest.update(piece);
  const { headers } = await signer.sign({
    method: request.method,
    protocol: url.protocol,
    hostname: url.hostname,
    // A port is signed as a part of the header `host`.
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { ...request.headers, host: url.host, 'x-amz-content-sha256': digest.digest('hex') },
  });
  // The transport sets the host by itself, from the same address.
  const { host: _host, ...sent } = headers;
  return { ...request, headers: sent };
}
