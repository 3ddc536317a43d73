import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { HEADER } from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';

/** The first is the one that is sent; the others are accepted while a new one is brought in. */
export type FleetTokens = readonly [string, ...string[]];

const NAME = HEADER.clientAddress.toLowerCase();

/**
 * The address of a caller behind the front door. The edge sends it with a proof that only the fleet can make. A service
 * would otherwise see the edge's own address, and a direct caller could claim any.
 */
export class ClientAddress {
  constructor(private readonly fleetTokens: FleetTokens) {}

  /**
   * The caller's address: what the edge vouched for, else what a trusted proxy says of it, else that of the connection.
   */
  of(request: FastifyRequest): string {
    const vouched = request.headers[NAME];
    if (typeof vouched !== 'string') return ofConnection(request);
    const space = vouched.indexOf(' ');
    const address = vouched.slice(0, Math.max(0, space));
    const given = Buffer.from(vouched.slice(space + 1));
    const isOurs = this.fleetTokens.some((token) => {
      const proof = Buffer.from(proofOf(address, token));
      return given.length === proof.length && timingSafeEqual(given, proof);
    });
    return isOurs && isIP(address) !== 0 ? address : ofConnection(request);
  }

  /** The header's value for a request that is passed on: `<address> <proof>`. */
  vouch(request: FastifyRequest): string {
    const address = this.of(request);
    return `${address} ${proofOf(address, this.fleetTokens[0])}`;
  }
}

function proofOf(address: string, fleetToken: string): string {
  return createHmac('sha256', fleetToken).update(`client address ${address}`).digest('base64url');
}

/** A trusted proxy may pass on any text that a caller wrote: what is no address says nothing. */
function ofConnection({ ip, socket }: FastifyRequest): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
}
