import { seededRandom } from '@gateway/testing/plain';
import { compared } from './books.js';
import type { Sent } from './caller.js';
import { drawWork } from './work.js';

const work = { ...drawWork(1, seededRandom(1)), ending: 'whole' as const };
const sent: Sent = {
  ...{ work, tag: 'any-1-1-0', edge: 'edge-0', keyId: 'key_1', requestId: 'req_1', status: 200 },
  ...{ isWhole: true, fault: '', expectedPico: 1_500n },
};
const event = {
  ...{ request_id: 'req_1', account_id: 'acct_1', key_id: 'key_1', tag: 'any-1-1-0' },
  ...{ status: 'success', error_code: null, cost: '0.000000001500' },
};

describe('books against callers', () => {
  it('find nothing where each whole answer has its event at its cost', () => {
    const books = compared([event], [sent], []);
    expect(books).toEqual({
      ...{ events: 1, crashed: 0, lost: 0, doubled: 0, costPico: 1_500n, differences: [] },
    });
  });

  it('count an answer without an event as lost', () => {
    const books = compared([], [sent], []);
    expect(books.lost).toBe(1);
    expect(books.differences).toHaveLength(1);
  });

  it.each([
    ['one pico-USD too much', { ...event, cost: '0.000000001501' }, 'should cost 1500'],
    ['no cost', { ...event, cost: null }, 'costs null'],
    ['a died process', { ...event, status: 'error', error_code: 'gateway_crash' }, 'gateway_crash'],
    ['another key', { ...event, key_id: 'key_2' }, 'key_2'],
    ['another sending', { ...event, tag: 'any-1-2-0' }, 'any-1-2-0'],
  ])('find an event with %s', (_what, wrong, text) => {
    expect(compared([wrong], [sent], []).differences.join()).toContain(text);
  });

  it('count two events of one sending as doubled, and find one that nobody sent', () => {
    const doubled = compared([event, { ...event, request_id: 'req_2' }], [sent], []);
    expect(doubled.doubled).toBe(1);
    const foreign = compared([event, { ...event, request_id: 'req_3', tag: null }], [sent], []);
    expect(foreign.differences.join()).toContain('req_3 was sent by nobody');
  });

  it('let an answer that never began have an event or none', () => {
    const broken = { ...sent, status: 0, requestId: '', isWhole: false, fault: 'connection: ECONNRESET' };
    expect(compared([], [broken], []).differences).toEqual([]);
    expect(compared([event], [broken], []).differences).toEqual([]);
  });

  it('want an event for an answer that began and was cut', () => {
    const cut = { ...sent, isWhole: false, fault: 'cut' };
    expect(compared([], [cut], []).differences.join()).toContain('in part');
    const crash = { ...event, status: 'error', error_code: 'gateway_crash', cost: null };
    expect(compared([crash], [cut], [])).toMatchObject({ crashed: 1, differences: [] });
  });
});
