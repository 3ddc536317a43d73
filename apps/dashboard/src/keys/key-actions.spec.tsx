/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { rendered, renderedAt } from '../shell/rendered.fixture.js';
import type { Key } from './keys.queries.js';

const POST = jest.fn<(...sent: unknown[]) => Promise<unknown>>();
const DELETE = jest.fn<() => Promise<unknown>>();
jest.unstable_mockModule('../api/call.js', () => ({
  api: { POST, DELETE },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { KeyActions } = await import('./key-actions.js');
const { default: UndoBar } = await import('../shell/undo.js');

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

  it('asks for the label of a key that is in use before it is suspended', async () => {
    POST.mockResolvedValue({ data: { total: { requests: 291 } } });
    DELETE.mockResolvedValue({ data: {} });
    const record = { ...keyOf('active'), last_used_at: new Date(Date.now() - 600_000).toISOString() };
    renderedAt(
      '/o/org_1/keys/key_1',
      <>
        <KeyActions record={record} />
        <UndoBar />
      </>,
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Suspend' }));
    await screen.findByText(/^291 requests in the last 24 hours, the last one/);
    const suspend = screen.getByRole<HTMLButtonElement>('button', { name: 'Suspend the key' });
    expect(suspend.disabled).toBe(true);
    fireEvent.change(screen.getByLabelText('Type jobs to confirm'), { target: { value: 'jobs' } });
    await act(async () => fireEvent.click(suspend));
    expect(DELETE).toHaveBeenCalledTimes(1);
    await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Undo' })));
    expect(POST).toHaveBeenLastCalledWith('/v1/keys/{id}/reactivate', { params: { path: { id: 'key_1' } } });
  });

  it('point 18 says why a key was not reactivated', async () => {
    POST.mockRejectedValue(new Error('The keys service is away.'));
    rendered(<KeyActions record={keyOf('suspended')} />);
    await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Reactivate' })));
    await screen.findByText('The keys service is away.');
  });
});
