import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { SystemRandom } from '@gateway/platform';

export interface TestS3 {
  endpoint: string;
  /** Bucket of this test alone. */
  bucket: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  close(): Promise<void>;
}

/**
 * An S3 server of this process, or the one at TEST_S3_ENDPOINT whose keys are in TEST_S3_ACCESS_KEY_ID and
 * TEST_S3_SECRET_ACCESS_KEY.
 */
export async function testS3(): Promise<TestS3> {
  const bucket = `objects-${Buffer.from(new SystemRandom().bytes(8)).toString('hex')}`;
  const { TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY_ID, TEST_S3_SECRET_ACCESS_KEY } = process.env;
  const server = TEST_S3_ENDPOINT === undefined ? await startServer() : external(TEST_S3_ENDPOINT);
  const credentials = {
    accessKeyId: TEST_S3_ACCESS_KEY_ID ?? 'S3RVER',
    secretAccessKey: TEST_S3_SECRET_ACCESS_KEY ?? 'S3RVER',
  };
  const { endpoint, close } = server;
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return { endpoint, bucket, credentials, close };
}

type Server = Pick<TestS3, 'endpoint' | 'close'>;

function external(endpoint: string): Server {
  return { endpoint, close: async () => undefined };
}

async function startServer(): Promise<Server> {
  const { default: S3rver } = await import('s3rver');
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory });
  const { port } = (await server.run()) as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: async () => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
