/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Policy } from './alerts.queries.js';

const POST = jest.fn(async (_path: string, _asked: { body: object }) => ({ data: {} }));
const DELETE = jest.fn(async (_path: string, _asked: unknown) => ({ data: {} }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { DELETE, POST },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { DeletePolicy } = await import('./delete-policy.js');

const { default: UndoBar } = await import('../shell/undo.js');

const sent = { channel_id: 'ch_1', alert_type: 'spend_cap.hit', is_enabled: true } as const;
const policy = {
  ...sent,
  ...{ id: 'pol_1', org_id: 'org_1', threshold_usd: null, threshold_pct: 80, created_at: '', updated_at: '' },
} satisfies Policy;

describe('deleting a policy', () => {
  afterEach(cleanup);

  it('asks first, and says which event reaches whom no more', async () => {
    const page = (
      <>
        <UndoBar />
        <DeletePolicy policy={policy} destination="https://example.com/hook" />
      </>
    );
    renderedAt('/o/org_1/alerts', page);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete the policy: Spend cap is reached' }));
    await screen.findByText('“Spend cap is reached” is not sent to https://example.com/hook any more.');
    expect(DELETE).not.toHaveBeenCalled();
    fireEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await waitFor(() =>
      expect(DELETE.mock.calls).toEqual([['/alerts/policies/{id}', { params: { path: { id: 'pol_1' } } }]]),
    );
    // The same policy is made again by one press.
    fireEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(POST).toHaveBeenCalledTimes(1));
    expect(POST.mock.calls[0]?.[1]?.body).toEqual({ ...sent, threshold_usd: null, threshold_pct: 80 });
  });
});
