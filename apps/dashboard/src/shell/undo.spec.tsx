/** @jest-environment jsdom */
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { renderedAt } from './rendered.fixture.js';
import UndoBar, { offerUndo } from './undo.js';

async function shown(): Promise<void> {
  renderedAt(
    '/o/org_1/keys',
    <>
      <p>Keys</p>
      <UndoBar />
    </>,
  );
  await screen.findByText('Keys');
}

describe('taking back what was done', () => {
  afterEach(() => cleanup());

  it('says what was done, and undoes it by one press', async () => {
    let undone = 0;
    await shown();
    act(() => offerUndo('The key staging is suspended.', async () => void (undone += 1)));
    screen.getByText('The key staging is suspended.');
    await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Undo' })));
    expect(undone).toBe(1);
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
  });

  it('says why it was not undone, and can be tried again', async () => {
    await shown();
    act(() => offerUndo('Done.', () => Promise.reject(new Error('The keys service is away.'))));
    await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Undo' })));
    await screen.findByText('The keys service is away.');
    fireEvent.click(screen.getByRole('button', { name: 'Close the message' }));
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
  });
});
