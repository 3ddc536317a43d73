/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Lane } from './lanes.js';

const MODEL = {
  ...{ is_available: true, is_free: false },
  pricing: { prompt_usd_per_1m: '0.5', completion_usd_per_1m: '2' },
};
jest.unstable_mockModule('../api/call.js', () => ({
  api: {
    GET: async (path: string) => (path === '/v1/models/{brand}/{name}' ? { data: MODEL } : { data: {} }),
  },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({
  useSession: () => ({ state: 'out' }),
  session: { subscribe: () => undefined },
}));
const { LaneView } = await import('./lane-view.js');

// A text that grows waits for fonts, which jsdom has none of.
Object.assign(document, {
  fonts: { addEventListener: () => undefined, removeEventListener: () => undefined },
});

describe('one model of the playground', () => {
  afterEach(cleanup);
  const lane: Lane = {
    ...{ model: 'acme/swift', answer: null, problem: null, isRunning: false },
    turns: [
      { role: 'user', text: 'Weather?' },
      {
        ...{ role: 'assistant', text: '' },
        toolCalls: [
          { id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' },
          { id: 'call_2', name: 'clock', arguments: '{}' },
        ],
      },
    ],
  };

  it('says its price before anything is sent', async () => {
    renderedAt('/o/org_1/playground', <LaneView lane={{ ...lane, turns: [] }} onResults={() => undefined} />);
    await screen.findByText('$0.50 in, $2.00 out, a million tokens');
  });

  it('takes the results of the tools that it has called, in the order of the calls', async () => {
    const onResults = jest.fn();
    renderedAt('/o/org_1/playground', <LaneView lane={lane} onResults={onResults} />);
    fireEvent.change(await screen.findByLabelText('Result of clock'), { target: { value: 'noon' } });
    fireEvent.change(screen.getByLabelText('Result of weather'), { target: { value: 'sun' } });
    fireEvent.click(screen.getByRole('button', { name: 'Send results' }));
    expect(onResults).toHaveBeenCalledWith(['sun', 'noon']);
  });
});
