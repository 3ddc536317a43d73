import { SCOPED, type Role } from './callers.fixture.js';

/** The answer to a caller: admitted, or refused. */
export type Cell = 'in' | 401 | 403 | 404;

/** The owner of the thing that a call concerns. */
export type About = 'nothing' | 'own org' | 'own member' | 'other org' | 'unknown';

/**
 * The callers of an endpoint, written by hand and not read from @Access: both have to be wrong for a hole to stay
 * unseen.
 */
export interface Who {
  /** Anybody, with or without a credential. */
  everybody?: true;
  /** True for an endpoint of the fleet, closed to everybody outside. */
  fleet?: true;
  /** Sessions: all of them, or those with these roles in the organization that is concerned. */
  people?: 'all' | readonly ('owner' | 'admin' | 'member')[];
  /** True if every person may also act on what they made. */
  makers?: true;
  superAdmins?: true;
  /** The permission that an rsk_ key needs; `any` for none. */
  rsk?: string;
  /** The scope that a mak_ key needs. */
  mak?: string;
  /** A thing that is one key's alone: other keys of the organization do not see it. */
  isOfKey?: true;
  /** A member sees the thing, so that refusing to change it is 403 and no 404. */
  isSeenByMembers?: true;
}

const STAFF = ['owner', 'admin'] as const;
const MEMBERS = ['owner', 'admin', 'member'] as const;

export const EVERYBODY: Who = { everybody: true };
export const FLEET: Who = { fleet: true };
export const PEOPLE: Who = { people: 'all' };
export const SUPER: Who = { superAdmins: true };
export const staff = (more: Who = {}): Who => ({ people: STAFF, ...more });
export const members = (more: Who = {}): Who => ({ people: MEMBERS, ...more });
export const rsk = (permission: string, more: Who = {}): Who => ({ rsk: permission, ...more });

/** The way in which a call names the organization: by a thing in the path, or by `org_id` in body or query. */
export type Names = 'nothing' | 'thing' | 'org_id';

export function expected(who: Who, names: Names, role: Role, about: About): Cell {
  if (who.everybody === true) return 'in';
  if (who.fleet === true) return 404;
  switch (role) {
    case 'none':
    case 'expired':
      return 401;
    case 'suspended':
      return 403;
    case 'rsk':
    case 'exact_rsk':
    case 'scoped_rsk':
      return ofKey(who, names, role, about);
    case 'mak':
    case 'scoped_mak':
      return ofAdminKey(who, names, role, about);
    default:
      return ofPerson(who, names, role, about);
  }
}

const isOwn = (about: About): boolean => about !== 'other org' && about !== 'unknown';

/** A key is of one organization: an `org_id` that it sends is ignored. */
function ofKey({ rsk: needed, isOfKey }: Who, names: Names, role: Role, about: About): Cell {
  if (needed === undefined) return 403;
  if (role === 'scoped_rsk' && needed !== 'any' && needed !== SCOPED.rsk) return 403;
  if (names !== 'thing') return 'in';
  if (!isOwn(about) || (isOfKey === true && role !== 'rsk')) return 404;
  return 'in';
}

function ofAdminKey({ mak }: Who, names: Names, role: Role, about: About): Cell {
  if (mak === undefined || (role === 'scoped_mak' && mak !== SCOPED.mak)) return 403;
  if (isOwn(about)) return 'in';
  return names === 'org_id' ? 403 : 404;
}

type OfPerson = 'owner' | 'admin' | 'member' | 'outsider' | 'super_admin';

function ofPerson(who: Who, names: Names, role: OfPerson, about: About): Cell {
  if (role === 'super_admin' && who.superAdmins === true) return about === 'unknown' ? 404 : 'in';
  const { people } = who;
  if (people === undefined) return 403;
  if (people === 'all' || names === 'nothing') return 'in';
  const isOutside = role === 'outsider' || role === 'super_admin';
  if (isOutside || !isOwn(about)) return names === 'org_id' ? 403 : 404;
  if (people.includes(role)) return 'in';
  if (names === 'org_id') return who.makers === true ? 'in' : 403;
  if (who.isSeenByMembers === true) return 403;
  if (who.makers === true) return about === 'own member' ? 'in' : 404;
  return 403;
}
