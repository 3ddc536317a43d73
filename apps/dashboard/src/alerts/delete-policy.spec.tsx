/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { rendered } from '../shell/rendered.fixture.js';
import type { Policy } from './alerts.queries.js';

const DELETE = jest.fn(async (_path: string, _asked: unknown) => ({ data: {} }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { DELETE },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { DeletePolicy } = await import('./delete-policy.js');

const policy = { id: 'pol_1', alert_type: 'spend_cap.hit' } as unknown as Policy;

describe('deleting a policy', () => {
  afterEach(cleanup);

  it('asks first, and says which event reaches whom no more', async () => {
    rendered(<DeletePolicy policy={policy} destination="https://example.com/hook" />);
    fireEvent.click(screen.getByRole('button', { name: 'Delete the policy: Spend cap is reached' }));
    await screen.findByText('“Spend cap is reached” is not sent to https://example.com/hook any more.');
    expect(DELETE).not.toHaveBeenCalled();
    fireEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await waitFor(() =>
      expect(DELETE.mock.calls).toEqual([['/alerts/policies/{id}', { params: { path: { id: 'pol_1' } } }]]),
    );
  });
});
