import { bodyOfDraft } from './create-key.js';
import { changeOf } from './limits-form.js';

const before = {
  label: 'jobs',
  rpm_limit: '10',
  rpd_limit: '',
  tpm_limit: '',
  spend_cap_usd: '0.000001',
  allowed_models: ['openai/*'],
  blocked_models: [],
};

describe('what a form of a key sends', () => {
  it('is what differs; what was emptied is cleared', () => {
    expect(changeOf(before, before)).toEqual({});
    const cleared = { label: ' ', rpm_limit: '', allowed_models: [] };
    const after = { ...before, ...cleared, rpd_limit: '500', blocked_models: ['a/b'] };
    expect(changeOf(before, after)).toEqual({
      label: null,
      rpm: null,
      rpd: 500,
      allowed_models: null,
      blocked_models: ['a/b'],
    });
  });

  it('holds an amount as it was typed', () => {
    const after = { ...before, spend_cap_usd: '99999999999.123456789012' };
    expect(changeOf(before, after)).toEqual({ spend_cap_usd: '99999999999.123456789012' });
  });

  it.each(['10k', '1,000'])('does not take a limit away where %j was typed, which is no number', (typed) => {
    const sent = JSON.stringify(changeOf(before, { ...before, rpm_limit: typed }));
    expect(sent).toBe(JSON.stringify({ rpm: typed }));
  });

  it('leaves out what a new key has not', () => {
    const draft = { label: '', cap: '', rpm: '', days: '', team: '' };
    expect(bodyOfDraft(draft, 'org_1', 0)).toEqual({ org_id: 'org_1' });
    expect(bodyOfDraft({ ...draft, team: 'team_1' }, 'org_1', 0)).toEqual({
      org_id: 'org_1',
      team_id: 'team_1',
    });
    expect(bodyOfDraft({ ...draft, cap: '0.10', days: '1' }, null, 0)).toEqual({
      spend_cap_usd: '0.10',
      expires_at: '1970-01-02T00:00:00.000Z',
    });
  });
});
