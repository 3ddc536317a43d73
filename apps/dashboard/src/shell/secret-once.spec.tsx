/** @jest-environment jsdom */
import { act, fireEvent, screen } from '@testing-library/react';
import { useState, type ReactNode } from 'react';
import { rendered } from './rendered.fixture.js';
import { SecretOnce } from './secret-once.js';

const SECRET = 'rsk_shown_once';

function Page(): ReactNode {
  const [secret, setSecret] = useState<string | null>(SECRET);
  return <SecretOnce secret={secret} title="Your new API key" onDone={() => setSecret(null)} />;
}

function clipboard(writeText: () => Promise<void>): void {
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
}

describe('a secret that is shown once', () => {
  it('point 7 survives Escape, and is nowhere after Done', () => {
    const { container } = rendered(<Page />);
    fireEvent.keyDown(document.body, { key: 'Escape' });
    expect(screen.getByTestId('secret').textContent).toBe(SECRET);
    const done = screen.getByRole<HTMLButtonElement>('button', { name: 'Done' });
    expect(done.disabled).toBe(true);
    fireEvent.click(screen.getByLabelText('I have saved it'));
    fireEvent.click(done);
    expect(document.documentElement.outerHTML + container.outerHTML).not.toContain(SECRET);
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain(SECRET);
    expect(location.href).not.toContain(SECRET);
  });

  it('says Copied only after it happened', async () => {
    let finish = (): void => undefined;
    clipboard(() => new Promise((resolve) => (finish = resolve)));
    rendered(<Page />);
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    expect(screen.queryByText('Copied')).toBeNull();
    await act(async () => finish());
    expect(screen.getByText('Copied')).not.toBeNull();
  });

  it('point 7 says that the browser refused to copy', async () => {
    clipboard(() => Promise.reject(new Error('denied')));
    rendered(<Page />);
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    });
    expect(screen.getByRole('alert').textContent).toContain('refused');
  });
});
