import { GROUP_ROLES_PATTERN } from '../keys.config.js';
import { grantsOf } from './group-roles.js';

const SETTING = 'eng=org_a:member, leads=org_a:admin,ops=super_admin,eng=org_b:admin';

describe('grantsOf', () => {
  it.each([
    [['eng'], { org_a: 'member', org_b: 'admin' }, false],
    [['eng', 'leads'], { org_a: 'admin', org_b: 'admin' }, false],
    [['leads', 'eng'], { org_a: 'admin', org_b: 'admin' }, false],
    [['ops'], {}, true],
    [['engineers', 'En', ''], {}, false],
  ])('%j gives %j', (groups, orgs, isSuperAdmin) => {
    const grants = grantsOf(groups, SETTING);
    expect([Object.fromEntries(grants.orgs), grants.isSuperAdmin]).toEqual([orgs, isSuperAdmin]);
  });

  it('gives nothing without a setting', () => {
    expect(grantsOf(['eng'], undefined)).toEqual({ orgs: new Map(), isSuperAdmin: false });
  });
});

it.each([
  ['a=org_1:admin', true],
  ['a=super_admin,b=org_1:member', true],
  ['a=org_1:owner', false],
  ['a=org_1', false],
  ['a=', false],
  ['=super_admin', false],
])('the setting %s is well formed: %s', (setting, isWell) => {
  expect(GROUP_ROLES_PATTERN.test(setting)).toBe(isWell);
});
