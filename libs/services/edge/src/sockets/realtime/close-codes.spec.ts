import { callersFault } from './close-codes.js';

describe('an error of a realtime provider that the caller has caused', () => {
  it('A9 RT-04 shows its code and member, and nothing else that the provider put there', () => {
    const sent = {
      code: 'invalid_value',
      param: 'session.audio[0].format',
      event_id: 'e',
      inner: 'http://10.0.0.5:8000',
    };
    expect(callersFault(sent, 'No.')).toEqual({
      type: 'invalid_request_error',
      code: 'invalid_value',
      message: 'No.',
      param: 'session.audio[0].format',
    });
  });

  it.each([
    ['an address', 'http://10.0.0.5:8000/v1'],
    ['a key', 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'],
    ['a text', 'bad key at host'],
    ['a number', 7],
    ['nothing', undefined],
  ])('A9 shows neither where it is %s', (_what, value) => {
    expect(callersFault({ code: value, param: value }, 'No.')).toMatchObject({ code: null, param: null });
  });
});
