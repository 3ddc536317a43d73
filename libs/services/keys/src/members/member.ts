import { ApiError, type OrgRole } from '@gateway/contracts';

/**
 * Judges a change of roles. Throws ApiError `conflict` for the owner, who can only hand the organization on, `forbidden`
 * where somebody else than the owner hands it on.
 */
export function refuseRoleChange({
  actor,
  current,
  next,
}: {
  actor: OrgRole;
  current: OrgRole;
  next: OrgRole;
}): void {
  if (current === next) return;
  if (current === 'owner') throw soleOwner();
  if (next === 'owner' && actor !== 'owner') {
    throw new ApiError('forbidden', {
      message: 'Only the owner hands the organization on.',
      param: 'role',
    });
  }
}

export function soleOwner(): ApiError {
  return new ApiError('conflict', {
    message: 'An organization has exactly one owner: hand it on first, by making another member its owner.',
  });
}
