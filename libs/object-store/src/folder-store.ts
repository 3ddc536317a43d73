import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  objectName,
  ObjectStore,
  type Clock,
  type ObjectKey,
  type Random,
  type StoredObject,
} from '@gateway/contracts';
import { unavailable } from '@gateway/platform';
import { Bounded } from './bounded.js';
import { contentTypeOf } from './content-type.js';
import { FolderLinks } from './folder-links.js';

/** Folder of files that are being written: no kind begins with a dot. */
const INCOMING = '.incoming';
/** Age after which the writer of an unfinished file counts as dead. */
const INCOMING_MS = 43_200_000;

/** Objects as files of one folder, and links that the gateway answers itself. */
export class FolderStore extends ObjectStore {
  private readonly links: FolderLinks;

  constructor(private readonly options: { folder: string; publicUrl: string; clock: Clock; random: Random }) {
    super();
    this.links = new FolderLinks(options);
  }

  override async put(
    key: ObjectKey,
    content: AsyncIterable<Uint8Array>,
    { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal },
  ): Promise<{ bytes: number }> {
    const [path, bounded] = [this.pathOf(key), new Bounded(content, maxBytes)];
    const name = Buffer.from(this.options.random.bytes(16)).toString('hex');
    const written = join(this.options.folder, INCOMING, name);
    try {
      await mkdir(dirname(written), { recursive: true, mode: 0o700 });
      // Synced to the disk before it has its name.
      await pipeline(bounded, createWriteStream(written, { mode: 0o600, flags: 'wx', flush: true }), {
        signal,
      });
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(written, path);
      return { bytes: bounded.bytes };
    } catch (failure) {
      await rm(written, { force: true });
      throw failure === bounded.failure ? failure : this.faultOf(failure);
    }
  }

  override async get(key: ObjectKey): Promise<StoredObject | null> {
    try {
      const file = await open(this.pathOf(key), 'r');
      const { size } = await file.stat();
      return { bytes: size, contentType: contentTypeOf(key), content: file.createReadStream() };
    } catch (failure) {
      if (isAbsent(failure)) return null;
      throw this.faultOf(failure);
    }
  }

  override link(key: ObjectKey, forMs: number): Promise<string> {
    return this.links.make(key, forMs);
  }

  /** Returns the object that a link leads to; null where the link is not one of ours, or has expired. */
  async follow(key: ObjectKey, expires: string, signature: string): Promise<StoredObject | null> {
    return (await this.links.isGood(key, expires, signature)) ? this.get(key) : null;
  }

  override async remove(key: ObjectKey): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  override async removeAll({
    kind,
    accountId,
    before,
  }: {
    kind: string;
    accountId?: string;
    before?: Date;
  }): Promise<number> {
    await this.removeAbandoned();
    let removed = 0;
    const accounts = accountId === undefined ? await this.namesIn(kind) : [accountId];
    for (const account of accounts) {
      for (const name of await this.namesIn(kind, account)) {
        const path = this.pathOf(objectName(kind, account, name));
        if (before !== undefined && !(await isOlder(path, before))) continue;
        await rm(path, { force: true });
        removed += 1;
      }
    }
    return removed;
  }

  private async removeAbandoned(): Promise<void> {
    const before = new Date(this.options.clock.now() - INCOMING_MS);
    for (const name of await this.namesIn(INCOMING)) {
      const path = join(this.options.folder, INCOMING, name);
      if (await isOlder(path, before)) await rm(path, { force: true });
    }
  }

  private async namesIn(...parts: string[]): Promise<string[]> {
    try {
      return await readdir(join(this.options.folder, ...parts));
    } catch (failure) {
      if (isAbsent(failure)) return [];
      throw this.faultOf(failure);
    }
  }

  private pathOf(key: ObjectKey): string {
    const [kind, account, name] = key.split('/', 3);
    return join(this.options.folder, objectName(kind, account, name));
  }

  /** A fault of the disk is ours. One of a write names no path. */
  private faultOf(failure: unknown): unknown {
    const { syscall } = failure as NodeJS.ErrnoException;
    return syscall === undefined ? failure : unavailable(this.options.random, failure);
  }
}

async function isOlder(path: string, before: Date): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < before.getTime();
  } catch (failure) {
    if (isAbsent(failure)) return false;
    throw failure;
  }
}

function isAbsent(failure: unknown): boolean {
  return (failure as NodeJS.ErrnoException).code === 'ENOENT';
}
