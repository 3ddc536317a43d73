import { isIP } from 'node:net';
import { registerDecorator } from 'class-validator';
import { Transform } from 'class-transformer';

/** Fastify's `trustProxy`: how many hops before us are ours, or their addresses and networks. */
export type TrustedProxies = number | string[];

const HOPS_MAX = 10;
/** Names that @fastify/proxy-addr knows for the reserved networks. */
const NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** A number of hops, or a comma-separated list of addresses, networks (a/b) and the names above. */
export function IsTrustedProxies(): PropertyDecorator {
  return (target, propertyKey) => {
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? parsed(value) : value))(
      target,
      propertyKey,
    );
    registerDecorator({
      name: 'isTrustedProxies',
      target: target.constructor,
      propertyName: String(propertyKey),
      validator: {
        validate: (value: unknown) => isTrustedProxies(value),
        defaultMessage: () =>
          `$property must be a number of hops up to ${HOPS_MAX}, or addresses and networks with commas between`,
      },
    });
  };
}

function parsed(text: string): TrustedProxies {
  if (/^\d+$/.test(text.trim())) return Number(text);
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function isTrustedProxies(value: unknown): value is TrustedProxies {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 1 && value <= HOPS_MAX;
  return Array.isArray(value) && value.length > 0 && value.every(isNetwork);
}

function isNetwork(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const [address, bits, ...rest] = value.split('/');
  if (NETWORKS.includes(value)) return true;
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (bits === undefined) return true;
  // /0 would believe everybody.
  return /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128);
}
