import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Random } from '@gateway/contracts';
import { RANDOM, unavailable } from '@gateway/platform';
import { hashPassword, verifyPassword } from './password.js';

/** A hash takes 19 MiB and some 30 ms of a thread: more at once would slow everything else. */
const HASHES_AT_ONCE = 4;
const HASHES_WAITING = 64;
const LENGTH_MIN = 8;

/** Hashes and checks passwords, a few at once. Throws ApiError `service_unavailable` where too many wait. */
@Injectable()
export class PasswordHasher {
  private readonly waiting: (() => void)[] = [];
  private hashing = 0;
  /** Digest that an unknown address is checked against, so that it takes as long as a known one. */
  private decoy: Promise<string> | null = null;

  constructor(@Inject(RANDOM) private readonly random: Random) {}

  /** Throws ApiError `validation_error`, naming `field`, for a password that is too short to be one. */
  hash(password: string, field: string): Promise<string> {
    if (password.normalize('NFKC').length < LENGTH_MIN) {
      const msg = `A password has at least ${LENGTH_MIN} characters.`;
      const details = [{ type: 'password_too_short' as const, loc: [field], msg }];
      throw new ApiError('validation_error', { message: `${field}: ${msg}`, details });
    }
    return this.queued(() => hashPassword(password, this.random));
  }

  /** False for who has no password; it takes as long. */
  async matches(password: string, stored: string | null): Promise<boolean> {
    this.decoy ??= hashPassword('', this.random);
    const compared = stored ?? (await this.decoy);
    const isRight = await this.queued(() => verifyPassword(password, compared));
    return isRight && stored !== null;
  }

  private async queued<T>(work: () => Promise<T>): Promise<T> {
    if (this.hashing >= HASHES_AT_ONCE) {
      if (this.waiting.length >= HASHES_WAITING) throw unavailable(this.random);
      await new Promise<void>((begin) => this.waiting.push(begin));
    } else {
      this.hashing += 1;
    }
    try {
      return await work();
    } finally {
      // The place is handed on, so it is free only when nobody waits.
      const next = this.waiting.shift();
      if (next === undefined) this.hashing -= 1;
      else next();
    }
  }
}
