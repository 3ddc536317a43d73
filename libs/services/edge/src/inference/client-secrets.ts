import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Clock, type Credential, type Random } from '@gateway/contracts';
import { parseSpelled, writeJson } from '@gateway/json-body';
import { isObject } from '@gateway/dialects';
import { CLOCK, FleetSecret, RANDOM } from '@gateway/platform';
import { seal, unsealWithAny } from '@gateway/sealing';

const PREFIX = 'ek_';
const PURPOSE = 'realtime client secret';
/** A browser sends it as a header, of which it may have 16 KiB in all. */
const SESSION_BYTES_MAX = 4_096;
const SECRET_LENGTH_MAX = 8_192;

/** Rights of a client secret: one key's realtime, in the session that the key's owner has set. */
interface Granted {
  credential: Credential;
  session: Record<string, unknown>;
}

/**
 * Short-lived secrets for browsers. A secret is its own record, sealed with a key of the fleet: nothing is stored, every
 * edge can open it, and it ends with its key.
 */
@Injectable()
export class ClientSecrets {
  private readonly keys: readonly Uint8Array[];

  constructor(
    @Inject(FleetSecret) fleet: Pick<FleetSecret, 'keysFor'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    this.keys = fleet.keysFor(PURPOSE);
  }

  /** Throws ApiError validation_error for a session that does not fit. */
  make(digest: string, session: Record<string, unknown>, expiresAt: number): string {
    const said = writeJson(session);
    if (Buffer.byteLength(said) > SESSION_BYTES_MAX)
      throw new ApiError('validation_error', {
        message: `session: more than ${SESSION_BYTES_MAX} bytes; set the rest with session.update.`,
        param: 'session',
      });
    const plain = Buffer.from(writeJson({ digest, session, expires_at: expiresAt }));
    return PREFIX + Buffer.from(seal(plain, this.keys[0], PURPOSE, this.random)).toString('base64url');
  }

  /** Null where the text is no client secret. Throws ApiError `unauthorized` for one that is old or was made up. */
  open(text: string): Granted | null {
    if (!text.startsWith(PREFIX)) return null;
    const { digest, session, expires_at: expiresAt } = this.opened(text);
    if (typeof digest !== 'string' || !isObject(session) || typeof expiresAt !== 'number')
      throw new ApiError('unauthorized');
    if (expiresAt * 1_000 <= this.clock.now()) throw new ApiError('unauthorized');
    return { credential: { kind: 'key', digest }, session };
  }

  private opened(text: string): Record<string, unknown> {
    if (text.length > SECRET_LENGTH_MAX) throw new ApiError('unauthorized');
    const sealed = Buffer.from(text.slice(PREFIX.length), 'base64url');
    try {
      return parseSpelled(unsealWithAny(sealed, this.keys, PURPOSE).toString('utf8')) as Record<
        string,
        unknown
      >;
    } catch (cause) {
      throw new ApiError('unauthorized', { cause });
    }
  }
}
