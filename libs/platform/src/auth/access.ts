import { SetMetadata, type CustomDecorator } from '@nestjs/common';

/**
 * Who may call a handler; the members are alternatives. Nothing named is nobody: a handler without
 * it stops the application from starting.
 */
export interface AccessRule {
  /** An active rsk_ key; with a permission, a scoped key must hold it. */
  key?: true | { permission: string };
  /** A person's session. What they may do in an org is the handler's rule. */
  session?: true;
  /** A mak_ key that holds this scope. */
  adminKey?: { scope: string };
  /** A session of a platform super admin. */
  superAdmin?: true;
  /** Another service of the fleet, by the fleet's token. */
  internal?: true;
  /** Anybody, without a credential. */
  public?: true;
}

export const ACCESS_METADATA = 'gateway:access';

/** The one decorator that declares who may call a handler (or every handler of a controller). */
export function Access(rule: AccessRule): CustomDecorator {
  return SetMetadata(ACCESS_METADATA, rule);
}
