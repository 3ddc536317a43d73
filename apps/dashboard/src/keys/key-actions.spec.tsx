/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { rendered } from '../shell/rendered.fixture.js';
import type { Key } from './keys.queries.js';

const POST = jest.fn<() => Promise<unknown>>();
jest.unstable_mockModule('../api/call.js', () => ({
  api: { POST },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { KeyActions } = await import('./key-actions.js');

const keyOf = (status: Key['status']): Key => ({ id: 'key_1', label: 'jobs', status }) as Key;

describe('what can be done with a key', () => {
  afterEach(cleanup);

  it('point 7 shows the new secret where the dialog was closed before the answer came', async () => {
    let answer: (rotated: { data: { key: string } }) => void = () => undefined;
    POST.mockReturnValue(new Promise((resolve) => (answer = resolve)));
    rendered(<KeyActions record={keyOf('active')} />);
    fireEvent.click(screen.getByRole('button', { name: 'Rotate' }));
    const dialog = screen.getByRole('dialog', { name: 'Rotate the key' });
    fireEvent.click([...dialog.querySelectorAll('button')].find((one) => one.textContent === 'Rotate')!);
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    await act(async () => answer({ data: { key: 'rsk_the_new_one' } }));
    expect(screen.getByTestId('secret').textContent).toBe('rsk_the_new_one');
  });

  it('point 18 says why a key was not reactivated', async () => {
    POST.mockRejectedValue(new Error('The keys service is away.'));
    rendered(<KeyActions record={keyOf('suspended')} />);
    await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Reactivate' })));
    await screen.findByText('The keys service is away.');
  });
});
