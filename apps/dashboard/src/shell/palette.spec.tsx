/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { rendered } from './rendered.fixture.js';

const navigate = jest.fn<(to: { to: string }) => Promise<void>>(() => Promise.resolve());
jest.unstable_mockModule('@tanstack/react-router', () => ({
  useNavigate: () => navigate,
  useParams: () => ({ org: 'org_1' }),
}));
const GET = jest.fn(async (path: string) => ({
  data: { data: path === '/v1/keys' ? [{ id: 'key_1', label: 'Batch jobs' }] : [] },
}));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
const { default: Palette } = await import('./palette.js');
const { PagesContext } = await import('./pages.js');

const page = { who: ['owner'] as const, load: () => Promise.reject(new Error('not opened')) };
const PAGES = [
  { ...page, path: '/usage', title: 'Usage', nav: { section: 'usage', order: 0 }, words: 'spend' },
  { ...page, path: '/keys', title: 'API keys', nav: { section: 'keys', order: 0 } },
] as const;

describe('Ctrl K', () => {
  let onClose: jest.Mock;
  beforeEach(() => {
    jest.useFakeTimers();
    jest.clearAllMocks();
    Element.prototype.scrollIntoView = () => undefined;
    onClose = jest.fn();
    localStorage.clear();
    open();
  });
  const open = (): void => {
    rendered(
      <PagesContext value={PAGES}>
        <Palette roles={['owner']} onClose={onClose} />
      </PagesContext>,
    );
  };
  const shown = (): (string | null)[] => screen.getAllByRole('option').map((one) => one.textContent);
  afterEach(() => {
    cleanup();
    jest.useRealTimers();
  });
  const type = (value: string): void => {
    fireEvent.change(screen.getByRole('combobox'), { target: { value } });
  };
  /** First the search begins, then it is answered. */
  const pass = async (): Promise<void> => {
    for (let step = 0; step < 2; step += 1) await act(() => jest.advanceTimersByTimeAsync(1_000));
  };
  const enter = (): void => void fireEvent.keyDown(screen.getByRole('combobox'), { key: 'Enter' });

  it('opens a request whose id is pasted and entered at once, and asks nobody for it', async () => {
    type(' req_0a-B1\t');
    enter();
    expect(navigate.mock.calls.map(([{ to }]) => to)).toEqual(['/o/org_1/requests/req_0a-B1']);
    expect(onClose).toHaveBeenCalledTimes(1);
    await pass();
    expect(GET).not.toHaveBeenCalled();
  });

  it('finds a page by what it is about, and runs an action', () => {
    type('spend');
    expect(shown()[0]).toBe('Usagepage');
    type('create key');
    expect(shown()).toEqual(['Create API keyaction']);
    enter();
    expect(navigate.mock.calls).toEqual([[{ to: '/o/org_1/keys', search: { create: 'yes' } }]]);
  });

  it('shows first what was opened last', () => {
    type('usa');
    enter();
    cleanup();
    open();
    expect(shown()).toEqual(['Usagepage', 'API keyspage']);
  });

  it('opens the request also where something else was found before', async () => {
    type('batch');
    await pass();
    screen.getByRole('option', { name: /Batch jobs/ });
    type('req_1');
    expect(screen.getAllByRole('option').map((one) => one.textContent)).toEqual(['req_1request']);
    enter();
    expect(navigate.mock.calls.map(([{ to }]) => to)).toEqual(['/o/org_1/requests/req_1']);
  });
});
