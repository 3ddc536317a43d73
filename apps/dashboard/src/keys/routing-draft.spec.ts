import type { Key } from './keys.queries.js';
import { routingChangeOf, routingDraftOf } from './routing-draft.js';

const key = {
  ...{
    team_id: 'team_1',
    routing_policy_template_id: null,
    fixed_provider: null,
    default_model: 'acme/swift',
  },
  ...{
    response_cache: { enabled: true, ttl_seconds: 300 },
    request_tags: { env: 'prod' },
    routing_policy: {},
  },
} as unknown as Key;
const before = routingDraftOf(key);

describe('the routing of a key', () => {
  it('sends what differs; what was emptied is cleared', () => {
    expect(routingChangeOf(before, before, 0)).toEqual({});
    const after = { ...before, team_id: '', default_model: ' ', cache_seconds: '', tags: [] };
    expect(routingChangeOf(before, after, 0)).toEqual({
      team_id: null,
      default_model: null,
      response_cache: { enabled: false },
      request_tags: {},
    });
  });

  it('a policy takes the place of one of its own: a key may not have both', () => {
    expect(routingChangeOf(before, { ...before, routing_policy_template_id: 'rpt_1' }, 0)).toEqual({
      routing_policy_template_id: 'rpt_1',
      routing_policy: null,
    });
  });

  it('has tags by name, whose values may hold an equals sign', () => {
    const after = { ...before, tags: ['env=prod', 'query=a=b', 'bare'] };
    expect(routingChangeOf(before, after, 0)).toEqual({
      request_tags: { env: 'prod', query: 'a=b', bare: '' },
    });
  });

  it('keeps its end unless another is chosen', () => {
    expect(routingChangeOf(before, { ...before, expires: 'never' }, 0)).toEqual({ expires_at: null });
    expect(routingChangeOf(before, { ...before, expires: '1' }, 0)).toEqual({
      expires_at: '1970-01-02T00:00:00.000Z',
    });
  });

  it('does not switch the cache off where no number was typed', () => {
    expect(JSON.stringify(routingChangeOf(before, { ...before, cache_seconds: '5m' }, 0))).toBe(
      '{"response_cache":{"enabled":true,"ttl_seconds":"5m"}}',
    );
  });
});
