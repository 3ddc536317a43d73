/** @jest-environment jsdom */
import { cleanup, screen } from '@testing-library/react';
import { jest } from '@jest/globals';
import { rendered } from '../shell/rendered.fixture.js';
import type { Channel } from './alerts.queries.js';

jest.unstable_mockModule('../shell/when.js', () => ({ When: ({ at }: { at: string }) => at }));
const { ChannelState } = await import('./channel-state.js');

const channel: Channel = {
  id: 'chn_1',
  org_id: 'org_1',
  channel_type: 'webhook',
  destination: 'https://example.com/hook',
  is_enabled: true,
  verified_at: null,
  disabled_reason: null,
  created_at: '2026-11-27T09:00:00.000Z',
  updated_at: '2026-11-27T09:00:00.000Z',
  last_result: null,
  failing_since: null,
};
const last = {
  delivery_id: 'dlv_1',
  is_delivered: false,
  http_status: 500,
  error: 'The receiver answered 500.',
  at: '10:00',
};

describe('the state of a channel', () => {
  afterEach(cleanup);

  it.each<[string, Partial<Channel>, string]>([
    ['nothing was sent', {}, 'Nothing sent yet'],
    [
      'the last attempt failed',
      { last_result: last, failing_since: '09:00' },
      'Failing500, 10:00events fail since 09:00',
    ],
    ['nothing answered', { last_result: { ...last, http_status: null } }, 'Failingno answer, 10:00'],
    [
      'the last attempt was taken',
      { last_result: { ...last, is_delivered: true, http_status: 200, error: null } },
      'Delivering200, 10:00',
    ],
    ['a person switched it off', { is_enabled: false, last_result: last }, 'Off500, 10:00'],
    ['the service stopped it', { is_enabled: false, disabled_reason: 'gone' }, 'Stopped: gone (410)'],
    ['its address is not confirmed', { channel_type: 'email' }, 'Unconfirmed'],
  ])('where %s', (_, fields, words) => {
    rendered(<ChannelState channel={{ ...channel, ...fields }} />);
    expect(screen.getByTestId('state').textContent).toBe(words);
  });
});
