import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { OrgRole } from '@gateway/contracts';

/**
 * The callers of a handler; the members are alternatives, `org` narrows sessions and admin keys. Nothing named is
 * nobody: a handler without it stops the application from starting.
 */
export interface AccessRule {
  /** An active rsk_ key; with a permission, a scoped key must hold it. */
  key?: true | { permission: string };
  /** A person's session. */
  session?: true;
  /** A mak_ key that holds this scope. */
  adminKey?: { scope: string };
  /** A session of a platform super admin, whatever `org` says. */
  superAdmin?: true;
  /** Part of an organization that a person or an admin key may reach; absent where no organization is concerned. */
  org?: OrgRule;
  /** Another service of the fleet, by the fleet's token. */
  internal?: true;
  /** Anybody, without a credential. */
  public?: true;
}

export interface OrgRule {
  /** Roles that may act on everything of their organization. An admin key counts as an admin. */
  roles: readonly OrgRole[];
  /** True if every person may also act on what they made themselves. */
  own?: true;
  /** Path parameter that names a person: every member of the organization may act on themselves. */
  self?: string;
  /**
   * The path parameter that names the organization: the guard checks it. Absent where the handler finds the
   * organization by a row: it applies the same rule, by `requireOrgRole` or in its query.
   */
  param?: string;
}

export const ACCESS_METADATA = 'gateway:access';

/** The one decorator that declares who may call a handler (or every handler of a controller). */
export function Access(rule: AccessRule): CustomDecorator {
  return SetMetadata(ACCESS_METADATA, rule);
}
