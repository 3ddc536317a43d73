import { sharedSearch } from './share-link.js';

describe('a link of usage that is shared', () => {
  it('has the times of the figures in their zone, and no range that moves with the clock', () => {
    const times = {
      since: '2026-11-21T10:05:00.000Z',
      until: '2026-11-28T10:05:12.345Z',
      time_zone: 'Asia/Kolkata',
    };
    expect(sharedSearch({ range: '7d', by: 'team', team_id: 'team_1' }, times)).toBe(
      '?by=team&team_id=team_1&from=2026-11-21T10%3A05Z&to=2026-11-28T10%3A06Z&zone=Asia%2FKolkata',
    );
  });

  it('names days where the times are whole days', () => {
    const times = { since: '2026-10-01T00:00:00.000Z', until: '2026-10-31T23:59:59.999Z', time_zone: 'UTC' };
    expect(sharedSearch({ range: 'last-month', metric: 'tokens' }, times)).toBe(
      '?metric=tokens&from=2026-10-01&to=2026-10-31&zone=UTC',
    );
  });
});
