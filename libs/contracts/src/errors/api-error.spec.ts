import { ApiError, errorEnvelope } from './api-error.js';

describe('the envelope of an error', () => {
  it.each<[(string | number)[], string | null]>([
    [['body', 'content', 1, 'role'], 'content.1.role'],
    [['prompt'], 'prompt'],
    [['query', 'limit'], 'query.limit'],
    [['body'], 'body'],
    [[], null],
  ])('issue 14 names the member at %j as the caller wrote it: %s', (loc, param) => {
    const error = new ApiError('validation_error', { details: [{ type: 'value_error', loc, msg: 'no' }] });
    expect(errorEnvelope(error, 'req_1').error.param).toBe(param);
  });

  it('names the member that it was made with, and none without one', () => {
    const detail = { type: 'value_error' as const, loc: ['body', 'a'], msg: 'no' };
    const named = new ApiError('validation_error', { details: [detail], param: 'b' });
    expect(errorEnvelope(named, 'req_1').error.param).toBe('b');
    expect(errorEnvelope(new ApiError('not_found'), 'req_1').error.param).toBeNull();
  });

  it('issue 14 has details on every validation_error, and on no other code that was thrown without', () => {
    const bare = new ApiError('validation_error', { message: 'a.b is missing.', param: 'a.b' });
    const { param, details } = errorEnvelope(bare, 'req_1').error;
    expect([param, details]).toEqual([
      'a.b',
      [{ type: 'value_error', loc: ['a', 'b'], msg: 'a.b is missing.' }],
    ]);
    const [detail] = errorEnvelope(new ApiError('validation_error'), 'req_1').error.details ?? [];
    expect(detail.loc).toEqual(['body']);
    expect(errorEnvelope(new ApiError('conflict'), 'req_1').error).not.toHaveProperty('details');
  });
});
