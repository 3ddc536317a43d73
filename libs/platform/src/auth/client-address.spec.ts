import type { FastifyRequest } from 'fastify';
import { ClientAddress } from './client-address.js';

const fleet = new ClientAddress(['the token of a fleet, long enough']);

function request(ip: string, vouched?: string | string[]): FastifyRequest {
  const headers = vouched === undefined ? {} : { 'x-client-address': vouched };
  return { ip, headers, socket: { remoteAddress: '10.0.0.9' } } as unknown as FastifyRequest;
}

describe('the address of a caller', () => {
  it.each(['203.0.113.9', '2001:db8::1'])('is what an edge of the fleet vouches for: %s', (caller) => {
    const passedOn = fleet.vouch(request(caller));
    expect(fleet.of(request('10.0.0.1', passedOn))).toBe(caller);
    // A second hop says the same.
    expect(fleet.of(request('10.0.0.2', fleet.vouch(request('10.0.0.1', passedOn))))).toBe(caller);
  });

  it('is believed across the change of a token, in each of its steps', () => {
    const [before, after] = ['the token of a fleet, long enough', 'the token that comes after it'];
    const steps = [[before], [before, after], [after, before], [after]] as const;
    for (const [at, sent] of steps.entries())
      for (const accepted of steps.slice(Math.max(0, at - 1), at + 2)) {
        const passedOn = new ClientAddress(sent).vouch(request('203.0.113.9'));
        expect(new ClientAddress(accepted).of(request('10.0.0.1', passedOn))).toBe('203.0.113.9');
      }
  });

  it('is that of the connection where nobody vouches, or not with the token of this fleet', () => {
    const other = new ClientAddress(['another token, also long enough']);
    const [, proof] = fleet.vouch(request('203.0.113.9')).split(' ');
    const forged = [
      '203.0.113.9',
      '203.0.113.9 ',
      `203.0.113.8 ${proof}`,
      ` ${proof}`,
      '',
      other.vouch(request('1.1.1.1')),
    ];
    for (const header of forged)
      expect([header, fleet.of(request('10.0.0.1', header))]).toEqual([header, '10.0.0.1']);
    expect(fleet.of(request('10.0.0.1'))).toBe('10.0.0.1');
    expect(fleet.of(request('10.0.0.1', ['a', 'b']))).toBe('10.0.0.1');
  });

  it('is that of the connection where a trusted proxy passes on a text that is no address', () => {
    expect(fleet.of(request('<script>'))).toBe('10.0.0.9');
  });
});
