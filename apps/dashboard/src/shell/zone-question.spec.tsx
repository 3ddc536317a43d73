/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import type { Me } from '../session/rights.js';
import { rendered } from './rendered.fixture.js';

const PATCH = jest.fn(async (_path: string, _sent: { body: unknown }) => ({ data: {} }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { PATCH },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
const { default: ZoneQuestion } = await import('./zone-question.js');

const meIn = (time_zone: string | null): Me => ({
  user: { id: 'usr_1', email: 'mara@example.com', name: 'Mara', time_zone, locale: null },
  memberships: [],
  is_super_admin: false,
});

describe('the question for the time zone', () => {
  beforeEach(() => {
    const options = Intl.DateTimeFormat().resolvedOptions();
    jest
      .spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions')
      .mockReturnValue({ ...options, timeZone: 'America/Los_Angeles' });
    PATCH.mockClear();
  });
  afterEach(() => {
    cleanup();
    jest.restoreAllMocks();
  });

  it.each([
    ['Use America/Los_Angeles', 'America/Los_Angeles'],
    ['Keep UTC', 'UTC'],
  ])('keeps the answer "%s" with the person', async (name, time_zone) => {
    rendered(<ZoneQuestion me={meIn(null)} />);
    fireEvent.click(screen.getByRole('button', { name }));
    await waitFor(() => expect(PATCH).toHaveBeenCalledWith('/auth/me', { body: { time_zone } }));
  });

  it('is not asked of who has a zone, not even UTC', () => {
    rendered(<ZoneQuestion me={meIn('UTC')} />);
    expect(screen.queryByRole('button')).toBeNull();
  });
});
