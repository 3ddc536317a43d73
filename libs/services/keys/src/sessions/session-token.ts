import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { errors, jwtVerify, SignJWT, type CryptoKey } from 'jose';
import { KeysConfig } from '../keys.config.js';
import { SigningKeys } from './signing-keys.js';

const TOKEN_LIFE_MS = 15 * 60_000;
const TYPE = 'at+jwt';
const AUDIENCE = 'model-gateway';
const CLOCK_TOLERANCE_SECONDS = 5;
const KID_PATTERN = /^[0-9a-f-]{36}$/;

export interface SessionClaims {
  userId: string;
  sessionId: string;
  epoch: number;
}

/** Signs and verifies session tokens. No other kind of token passes here, and these pass nowhere else. */
@Injectable()
export class SessionTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly config: KeysConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async issue(claims: SessionClaims): Promise<{ token: string; expiresAt: Date }> {
    const { kid, key } = await this.keys.current();
    const issuedAt = Math.floor(this.clock.now() / 1000);
    const expiresAt = issuedAt + TOKEN_LIFE_MS / 1000;
    const token = await new SignJWT({ sid: claims.sessionId, epoch: claims.epoch })
      .setProtectedHeader({ alg: 'EdDSA', typ: TYPE, kid })
      .setSubject(claims.userId)
      .setIssuer(this.config.KEYS_TOKEN_ISSUER)
      .setAudience(AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(key);
    return { token, expiresAt: new Date(expiresAt * 1000) };
  }

  /** Throws ApiError `unauthorized` for whatever is not a token of ours that lives. */
  async verify(token: string): Promise<SessionClaims> {
    try {
      const { payload } = await jwtVerify(token, (header) => this.keyOf(header.kid), {
        algorithms: ['EdDSA'],
        typ: TYPE,
        issuer: this.config.KEYS_TOKEN_ISSUER,
        audience: AUDIENCE,
        requiredClaims: ['sub', 'sid', 'epoch', 'iat', 'exp'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(this.clock.now()),
      });
      const { sub, sid, epoch } = payload;
      if (typeof sub !== 'string' || typeof sid !== 'string' || typeof epoch !== 'number') {
        throw new ApiError('unauthorized');
      }
      return { userId: sub, sessionId: sid, epoch };
    } catch (failure) {
      if (failure instanceof errors.JOSEError) throw new ApiError('unauthorized', { cause: failure });
      throw failure;
    }
  }

  /** `kid` selects among our own keys; nothing else in the header is looked at. */
  private async keyOf(kid: string | undefined): Promise<CryptoKey | Uint8Array> {
    const key = kid !== undefined && KID_PATTERN.test(kid) ? await this.keys.publicKey(kid) : null;
    if (key === null) throw new errors.JWSSignatureVerificationFailed();
    return key;
  }
}
