import { createHmac, timingSafeEqual } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, ObjectKey, Random } from '@gateway/contracts';

const SECRET_BYTES = 32;
const SECRET_FILE = '.link-secret';

/** Signs addresses of objects and checks them. The secret lies in the folder, so that all who share it agree. */
export class FolderLinks {
  private secret: Promise<Buffer> | null = null;

  constructor(
    private readonly options: { folder: string; publicUrl: string; clock: Clock; random: Random },
  ) {}

  async make(key: ObjectKey, forMs: number): Promise<string> {
    const { clock, publicUrl } = this.options;
    const expires = String(Math.ceil((clock.now() + forMs) / 1_000));
    const signature = (await this.signature(key, expires)).toString('base64url');
    return `${publicUrl.replace(/\/+$/, '')}/objects/${key}?expires=${expires}&signature=${signature}`;
  }

  async isGood(key: ObjectKey, expires: string, signature: string): Promise<boolean> {
    const signed = await this.signature(key, expires);
    const given = Buffer.from(signature, 'base64url');
    const isOurs = given.length === signed.length && timingSafeEqual(given, signed);
    return isOurs && Number(expires) * 1_000 > this.options.clock.now();
  }

  private async signature(key: ObjectKey, expires: string): Promise<Buffer> {
    const secret = await (this.secret ??= this.readSecret());
    return createHmac('sha256', secret).update(`${key}\n${expires}`).digest();
  }

  private async readSecret(): Promise<Buffer> {
    const { folder, random } = this.options;
    const path = join(folder, SECRET_FILE);
    const made = `${path}.${Buffer.from(random.bytes(8)).toString('hex')}`;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Linked when it is whole: of two processes that begin together one wins, and both read its secret.
      await writeFile(made, random.bytes(SECRET_BYTES), { mode: 0o600, flag: 'wx' });
      await link(made, path).catch(ignoreExisting);
      return await readFile(path);
    } catch (failure) {
      this.secret = null;
      throw failure;
    } finally {
      await rm(made, { force: true });
    }
  }
}

function ignoreExisting(failure: NodeJS.ErrnoException): void {
  if (failure.code !== 'EEXIST') throw failure;
}
