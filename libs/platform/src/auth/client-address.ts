import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { HEADER } from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';

const NAME = HEADER.clientAddress.toLowerCase();

/**
 * Who calls, behind the front door: the edge says it with a proof that only the fleet can make, because a service would
 * otherwise see the edge's own address, and whoever reaches a service directly could say anything.
 */
export class ClientAddress {
  constructor(private readonly fleetToken: string) {}

  /**
   * The caller's address: what the edge vouched for, else what a trusted proxy says of it, else that of the connection.
   */
  of(request: FastifyRequest): string {
    const vouched = request.headers[NAME];
    if (typeof vouched !== 'string') return ofConnection(request);
    const space = vouched.indexOf(' ');
    const address = vouched.slice(0, Math.max(0, space));
    const given = Buffer.from(vouched.slice(space + 1));
    const proof = Buffer.from(this.proofOf(address));
    const isOurs = given.length === proof.length && timingSafeEqual(given, proof);
    return isOurs && isIP(address) !== 0 ? address : ofConnection(request);
  }

  /** The header's value for a request that is passed on: `<address> <proof>`. */
  vouch(request: FastifyRequest): string {
    const address = this.of(request);
    return `${address} ${this.proofOf(address)}`;
  }

  private proofOf(address: string): string {
    return createHmac('sha256', this.fleetToken).update(`client address ${address}`).digest('base64url');
  }
}

/** A trusted proxy may pass on any text that a caller wrote: what is no address says nothing. */
function ofConnection({ ip, socket }: FastifyRequest): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
}
