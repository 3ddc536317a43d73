import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  PrincipalReader,
  type Clock,
  type Credential,
  type KeyPrincipal,
  type Principal,
} from '@gateway/contracts';
import { CLOCK, permit } from '@gateway/platform';

/** Principals of requests for inference: keys that may call. */
@Injectable()
export class Callers {
  constructor(
    private readonly principals: PrincipalReader,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Throws ApiError where the credential may not call. */
  async resolve(credential: Credential, permission: string): Promise<KeyPrincipal> {
    return this.permitted(await this.principals.resolve(credential), permission);
  }

  /** Reads the record past every cache. Throws ApiError where the credential may no longer call. */
  async reload(credential: Credential, permission: string): Promise<KeyPrincipal> {
    return this.permitted(await this.principals.reload(credential), permission);
  }

  /** Throws ApiError `forbidden` for a principal that is no key, and as the guard does for one that may not call. */
  permitted(found: Principal, permission: string): KeyPrincipal {
    const principal = permit(found, { key: { permission } }, this.clock);
    if (principal.kind !== 'key') throw new ApiError('forbidden');
    return principal;
  }
}
