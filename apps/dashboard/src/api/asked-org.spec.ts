import { payingOrg } from './asked-org.js';

it('money of the own account is asked for by its name: without one the only organization would be meant', () => {
  expect(payingOrg(null)).toEqual({ org_id: 'personal' });
  expect(payingOrg('org_1')).toEqual({ org_id: 'org_1' });
});
