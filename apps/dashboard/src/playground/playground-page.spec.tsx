/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { Link, useLocation } from '@tanstack/react-router';
import { cleanup, fireEvent, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Replay } from '../shell/replay.js';

const GET = jest.fn(async (path: string) => {
  if (path === '/v1/models/{brand}/{name}') return { data: { is_free: true, is_available: true } };
  if (path !== '/auth/me') return { data: { data: [], total: 0 } };
  return { data: { user: { id: 'usr_1', time_zone: null }, memberships: [], is_super_admin: false } };
});
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({
  useSession: () => ({ state: 'out' }),
  session: { subscribe: () => undefined },
}));
const { default: PlaygroundPage } = await import('./playground-page.js');

const replay: Replay = {
  ...{ system: 'Be short.', temperature: '0', maxTokens: '64', tools: '' },
  past: [
    { role: 'user', text: 'Hi' },
    { role: 'assistant', text: 'Hello' },
  ],
  last: { role: 'user', text: 'And now?' },
};

function Pages(): ReactNode {
  const isThere = useLocation().pathname.endsWith('/playground');
  const link = (
    <Link to={'/o/org_1/playground'} state={{ replay }}>
      Replay
    </Link>
  );
  return isThere ? <PlaygroundPage /> : link;
}

// A text that grows waits for fonts, which jsdom has none of.
Object.assign(document, {
  fonts: { addEventListener: () => undefined, removeEventListener: () => undefined },
});

describe('the playground', () => {
  afterEach(cleanup);

  it('begins with the conversation and the settings of a request that is replayed, until it is cleared', async () => {
    const { address } = renderedAt('/o/org_1/requests', <Pages />);
    fireEvent.click(await screen.findByRole('link', { name: 'Replay' }));
    await screen.findByText('Hello');
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' }).value).toBe('And now?');
    expect(screen.getByLabelText<HTMLTextAreaElement>('System message').value).toBe('Be short.');
    expect(screen.getByLabelText<HTMLInputElement>('Temperature').value).toBe('0');
    expect(address()).toBe('/o/org_1/playground');
    fireEvent.click(screen.getByRole('button', { name: 'Show code' }));
    fireEvent.click(await screen.findByRole('tab', { name: 'Python' }));
    const code = screen.getByRole('region', { name: 'the call in Python' }).textContent;
    expect(code).toContain('"temperature": 0');
    expect(code).toContain('"content": "Be short."');
    fireEvent.click(screen.getByRole('button', { name: 'Clear', hidden: true }));
    expect(screen.queryByText('Hello')).toBeNull();
  });
});
