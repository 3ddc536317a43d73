import { resetOf } from './reset-of.js';

describe('when a limit is open again', () => {
  it.each([
    ['rpm', '2026-03-07T10:20:30.400Z', '2026-03-07T10:21:00.000Z'],
    ['tpm', '2026-03-07T23:59:59.999Z', '2026-03-08T00:00:00.000Z'],
    ['rpd', '2026-02-28T10:20:30.400Z', '2026-03-01T00:00:00.000Z'],
    ['rpm', '2026-03-07T10:21:00.000Z', '2026-03-07T10:22:00.000Z'],
  ])('%s rejected at %s: %s', (type, at, reset) => expect(resetOf(type, at)).toBe(reset));

  it.each(['spend_cap', 'balance'])('a %s opens by no clock', (type) =>
    expect(resetOf(type, '2026-03-07T10:20:30.400Z')).toBeNull(),
  );
});
