import { Readable } from 'node:stream';
import { type S3Client as Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import {
  objectName,
  ObjectStore,
  ObjectTooLarge,
  type ObjectKey,
  type Random,
  type StoredObject,
} from '@gateway/contracts';
import { unavailable } from '@gateway/platform';
import { Bounded } from './bounded.js';
import { contentTypeOf } from './content-type.js';

export interface S3Options {
  bucket: string;
  region: string;
  endpoint?: string;
  pathStyle: boolean;
  credentials?: { accessKeyId: string; secretAccessKey: string };
  random: Random;
}

const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
const CONNECT_TIMEOUT_MS = 3_000;
const SOCKET_TIMEOUT_MS = 30_000;
const TRIES = 3;

/** The SDK is loaded by the first use: most edges never need it. */
interface Loaded {
  client: Client;
  s3: typeof import('@aws-sdk/client-s3');
}

/** Objects in one bucket of an S3 store. */
export class S3Store extends ObjectStore {
  private loading: Promise<Loaded> | null = null;

  constructor(private readonly options: S3Options) {
    super();
  }

  override put(
    key: ObjectKey,
    content: AsyncIterable<Uint8Array>,
    { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal },
  ): Promise<{ bytes: number }> {
    const bounded = new Bounded(content, maxBytes);
    return this.asked(async ({ client }) => {
      const { Upload } = await import('@aws-sdk/lib-storage');
      const upload = new Upload({
        client,
        params: {
          ...this.place(key),
          Body: Readable.from(bounded, { objectMode: false }),
          ContentType: contentTypeOf(key),
        },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      });
      const abort = (): void => void upload.abort();
      signal?.addEventListener('abort', abort, { once: true });
      try {
        await upload.done();
        return { bytes: bounded.bytes };
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    }).catch((failure: unknown) => {
      signal?.throwIfAborted();
      // What the content failed with is its reader's to judge.
      throw bounded.failure ?? failure;
    });
  }

  override get(key: ObjectKey): Promise<StoredObject | null> {
    return this.asked(async ({ client, s3 }) => {
      try {
        const found = await client.send(new s3.GetObjectCommand(this.place(key)));
        return {
          bytes: found.ContentLength ?? 0,
          contentType: contentTypeOf(key),
          content: found.Body as Readable,
        };
      } catch (failure) {
        if (failure instanceof s3.NoSuchKey) return null;
        throw failure;
      }
    });
  }

  override link(key: ObjectKey, forMs: number): Promise<string> {
    return this.asked(async ({ client, s3 }) => {
      const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
      const command = new s3.GetObjectCommand({
        ...this.place(key),
        ResponseContentType: contentTypeOf(key),
        ResponseContentDisposition: 'inline',
      });
      return getSignedUrl(client, command, { expiresIn: Math.ceil(forMs / 1_000) });
    });
  }

  override remove(key: ObjectKey): Promise<void> {
    return this.asked(async ({ client, s3 }) => {
      await client.send(new s3.DeleteObjectCommand(this.place(key)));
    });
  }

  override removeAll({
    kind,
    accountId,
    before,
  }: {
    kind: string;
    accountId?: string;
    before?: Date;
  }): Promise<number> {
    const Prefix = accountId === undefined ? `${kind}/` : `${kind}/${accountId}/`;
    const { bucket: Bucket } = this.options;
    return this.asked(async ({ client, s3 }) => {
      let removed = 0;
      const pages = s3.paginateListObjectsV2({ client }, { Bucket, Prefix });
      for await (const { Contents = [] } of pages) {
        const old = Contents.filter(
          ({ LastModified: at }) => before === undefined || (at !== undefined && at < before),
        );
        const Objects = old.flatMap(({ Key }) => (Key === undefined ? [] : [{ Key }]));
        if (Objects.length === 0) continue;
        await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
        removed += Objects.length;
      }
      return removed;
    });
  }

  async close(): Promise<void> {
    (await this.loading)?.client.destroy();
  }

  private place(key: ObjectKey): { Bucket: string; Key: string } {
    const [kind, account, name] = key.split('/', 3);
    return { Bucket: this.options.bucket, Key: objectName(kind, account, name) };
  }

  private async asked<T>(work: (loaded: Loaded) => Promise<T>): Promise<T> {
    const loaded = await (this.loading ??= this.load());
    try {
      return await work(loaded);
    } catch (failure) {
      if (failure instanceof ObjectTooLarge || failure instanceof TypeError) throw failure;
      throw unavailable(this.options.random, failure);
    }
  }

  private async load(): Promise<Loaded> {
    const s3 = await import('@aws-sdk/client-s3');
    const { region, endpoint, pathStyle: forcePathStyle, credentials } = this.options;
    const config: S3ClientConfig = {
      region,
      endpoint,
      forcePathStyle,
      credentials,
      maxAttempts: TRIES,
      // Stores other than Amazon's do not know its newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: SOCKET_TIMEOUT_MS,
      },
    };
    return { s3, client: new s3.S3Client(config) };
  }
}
