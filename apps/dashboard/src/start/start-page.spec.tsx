/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';

const MADE = { id: 'key_made', created_at: '2026-11-27T10:00:00.000Z', key: 'rsk_made' };
const KEYS = [
  { id: 'key_old', label: 'staging', masked_key: 'rsk_ab12...wxyz' },
  { id: 'key_bare', label: null, masked_key: 'rsk_cd34...stuv' },
];
const GET = jest.fn((path: string) =>
  path === '/v1/keys' ? Promise.resolve({ data: { data: KEYS } }) : new Promise(() => undefined),
);
const POST = jest.fn(async (path: string, _call: { body: Record<string, unknown> }) => {
  if (path === '/v1/keys') return { data: MADE };
  return { data: path === '/v1/usage/events' ? { events: [] } : { rejections: [] } };
});
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET, POST },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: StartPage } = await import('./start-page.js');

const asked = (path: string): Record<string, unknown>[] =>
  POST.mock.calls.filter(([called]) => called === path).map(([, { body }]) => body);

describe('the first request', () => {
  afterEach(() => {
    cleanup();
    POST.mockClear();
  });

  it('is one of the key that the page made: others of the organization do not end the wait', async () => {
    renderedAt('/o/org_1/start', <StartPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Create a key' }));
    await screen.findByText('Waiting for it. This page looks by itself.');
    expect(asked('/v1/keys')).toEqual([
      {
        org_id: 'org_1',
        label: 'First request',
        spend_cap_usd: '5',
        expires_at: expect.stringMatching(/Z$/),
      },
    ]);
    await waitFor(() => expect(asked('/v1/usage/rejections')).not.toEqual([]));
    const ofKey = { org_id: 'org_1', key_id: 'key_made', since: MADE.created_at };
    expect(asked('/v1/usage/events')[0]).toMatchObject(ofKey);
    expect(asked('/v1/usage/rejections')[0]).toMatchObject(ofKey);
  });

  it('of a key that there was is waited for once that key is chosen', async () => {
    renderedAt('/o/org_1/start', <StartPage />);
    const choice = await screen.findByRole('combobox', {
      name: 'Or wait for a request of a key that you have',
    });
    fireEvent.click(choice);
    fireEvent.click(await screen.findByRole('option', { name: 'staging (rsk_ab12...wxyz)' }));
    await waitFor(() => expect(asked('/v1/usage/events')).not.toEqual([]));
    expect(asked('/v1/usage/events')[0]).toMatchObject({ key_id: 'key_old' });
  });
});
