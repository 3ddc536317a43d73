/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { renderedAt } from './rendered.fixture.js';

const ALERT = { destination: 'https://example.com/hook', created_at: '2026-11-22T10:00:00.000Z' };
const GET = jest.fn(async (path: string) => ({
  data:
    path === '/alerts/deliveries'
      ? {
          data: [
            { ...ALERT, id: 'dlv_2', event_type: 'spend_cap.hit', status: 'exhausted' },
            { ...ALERT, id: 'dlv_1', event_type: 'balance.low', status: 'delivered' },
          ],
        }
      : { user: { time_zone: null }, memberships: [], is_super_admin: false },
}));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: Bell } = await import('./bell.js');

describe('the bell', () => {
  beforeEach(() => {
    localStorage.clear();
    GET.mockClear();
  });
  afterEach(cleanup);

  it('shows the last alerts in words, which were not delivered, and is marked until it was opened', async () => {
    renderedAt('/o/org_1/home', <Bell roles={['owner']} />);
    const bell = await screen.findByRole('button', { name: 'Last alerts, 2 new' });
    fireEvent.click(bell);
    const missed = await screen.findByRole('menuitem', { name: /^Spend cap is reached/ });
    expect(missed.getAttribute('href')).toBe('/o/org_1/alerts/deliveries/dlv_2');
    expect(missed.textContent).toContain('Could not be delivered to https://example.com/hook');
    screen.getByRole('menuitem', { name: /^Balance is low.*Delivered to/ });
    fireEvent.click(bell);
    await screen.findByRole('button', { name: 'Last alerts' });
  });

  it('is not there for those who may not read alerts, and asks for none', () => {
    renderedAt('/o/org_1/home', <Bell roles={['super']} />);
    expect(screen.queryByRole('button')).toBeNull();
    expect(GET).not.toHaveBeenCalled();
  });
});
