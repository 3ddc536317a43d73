import { changesOf } from './change-words.js';

const row = {
  ...{ id: 'aud_1', created_at: '', actor: 'usr_1', actor_kind: 'session' as const, actor_email: null },
  ...{ action: 'team.update', target: 'team_1', target_type: 'team', target_name: null, ip: '' },
  request_id: 'req_1',
};

it('a change is said with its values, and a field without any by its name alone', () => {
  const changes = [
    { field: 'spend_cap_usd', before: '10', after: '1250.5' },
    { field: 'rpm_limit', before: null, after: 1200 },
    { field: 'allowed_models', before: [], after: ['a/b', 'c/*'] },
    { field: 'is_enabled', before: true, after: false },
    { field: 'expires_at', before: null, after: '2026-12-01T00:00:00.000Z' },
  ];
  const moved = { field: 'team_id', before: null, after: 'team_1' };
  const changed_fields = ['spend_cap_usd', 'rpm', 'allowed_models', 'request_tags', 'team_id'];
  expect(changesOf({ ...row, changes: [...changes, moved], changed_fields }, 'UTC')).toEqual([
    { field: 'spend cap', values: { before: '$10.00', after: '$1,250.50' } },
    { field: 'requests a minute', values: { before: 'none', after: '1,200' } },
    { field: 'allowed models', values: { before: 'none', after: 'a/b, c/*' } },
    { field: 'in use', values: { before: 'yes', after: 'no' } },
    { field: 'end', values: { before: 'none', after: expect.stringContaining('Dec 2026') as string } },
    { field: 'request tags' },
    { field: 'team' },
  ]);
});
