/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Delivery } from './alerts.queries.js';

const SENT = { id: 'del_1', status: 'pending', attempts: 0, http_status: null, error: null };
const POST = jest.fn(async (path: string, _call: object) => ({
  data: path === '/alerts/channels' ? { id: 'ch_1', signing_secret: 'whsec_1' } : { id: 'pol_1' },
}));
const GET = jest.fn(async () => ({ data: { ...SENT, status: 'delivered', attempts: 1, http_status: 200 } }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET, POST },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { CreateChannel } = await import('./create-channel.js');
const { TestResult } = await import('./test-result.js');

const nothing = (): void => undefined;
const policies = (): unknown[] =>
  POST.mock.calls.filter(([path]) => path === '/alerts/policies').map(([, call]) => call);

describe('a new channel', () => {
  afterEach(() => {
    cleanup();
    POST.mockClear();
  });

  const add = async (): Promise<void> => {
    fireEvent.change(await screen.findByLabelText('Address'), { target: { value: 'https://a.example' } });
    fireEvent.click(screen.getByRole('button', { name: 'Add channel' }));
    await screen.findByText('whsec_1');
  };

  it('gets an alert at 80% of a cap by itself', async () => {
    renderedAt('/o/org_1/alerts', <CreateChannel org="org_1" isOpen onClose={nothing} />);
    await add();
    await waitFor(() =>
      expect(policies()).toEqual([
        expect.objectContaining({
          body: { channel_id: 'ch_1', alert_type: 'spend_cap.approaching', threshold_pct: 80 },
        }),
      ]),
    );
  });

  it('gets none where that is not wanted', async () => {
    renderedAt('/o/org_1/alerts', <CreateChannel org="org_1" isOpen onClose={nothing} />);
    fireEvent.click(await screen.findByLabelText(/at 80% of a cap/));
    await add();
    expect(policies()).toEqual([]);
  });
});

it('the result of a test says what was answered, and leads to the delivery', async () => {
  renderedAt('/o/org_1/alerts', <TestResult sent={SENT as Delivery} />);
  await screen.findByText(/^Delivered, status 200/);
  const link = screen.getByRole('link', { name: 'Open delivery' });
  expect(link.getAttribute('href')).toBe('/o/org_1/alerts/deliveries/del_1');
  cleanup();
});
