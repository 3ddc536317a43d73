import { X509Certificate } from 'node:crypto';
import { Resolver } from 'node:dns';
import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { registerDecorator, type ValidationArguments } from 'class-validator';
import { isWritableFolder } from './writable-folder.js';

/** An address that a URL parser takes, with one of these schemes, for example `redis`. */
export function IsAddress(...schemes: string[]): PropertyDecorator {
  return check(
    'isAddress',
    (value) => isText(value) && URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1)),
    `$property must be an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  );
}

const PORT = String.raw`(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])`;

/** A port that there is, for `Matches`. */
export const PORT_NUMBER = new RegExp(`^${PORT}$`);

/** host:port, for `Matches`: the name of a server, or an IPv6 address in brackets, and a port that there is. */
export const HOST_AND_PORT = new RegExp(String.raw`^(?:[^\s:/[\]]+|\[[\da-f:.]+\]):${PORT}$`, 'i');

/** Pattern of HOST_AND_PORT, and an IPv6 address without brackets: `::1:9000`. */
export const PLACE_AND_PORT = new RegExp(String.raw`^[^\s/@,]+:${PORT}$`);

/** `name=value` with commas between, values percent-encoded, as OTEL_EXPORTER_OTLP_HEADERS has them. */
export const HEADER_PAIRS = /^(?:[\w!#$&'*+.^`|~-]+=(?:[^\s,%]|%[\da-f]{2})*(?:,(?!$)|$))+$/i;

/** One or more certificates as PEM text. */
export function IsCertificates(): PropertyDecorator {
  return check('isCertificates', areCertificates, '$property must be certificates in PEM');
}

/** Labels of a name, of which the last is no number: 999.1.1.1 is an address gone wrong, not a name. */
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z\d_-]{1,63}\.)*(?!\d+$)[a-z\d_-]{1,63}$/i;

/** Checks for an address that a server may listen on: an IP address or the name of a host. */
export function IsHost(): PropertyDecorator {
  return check(
    'isHost',
    (value) => isText(value) && (isIP(value) !== 0 || HOST_NAME.test(value)),
    '$property must be an IP address or the name of a host',
  );
}

/** DNS servers: a list of IP addresses, with a port or without. */
export function IsDnsServers(): PropertyDecorator {
  return check('isDnsServers', areDnsServers, '$property must be IP addresses, each with a port or without');
}

/** A file that this process may read. What is in it is read when it is needed. */
export function IsReadableFile(): PropertyDecorator {
  return check(
    'isReadableFile',
    (value) => isText(value) && isReadable(value),
    '$property must be a file that can be read',
  );
}

/** A folder that this process may write into, or may make: then the nearest one above it that is there decides. */
export function IsWritableFolder(): PropertyDecorator {
  return check(
    'isWritableFolder',
    (value) => isText(value) && isWritableFolder(value),
    '$property must be a folder that this user may write, or may make',
  );
}

/** Refuses the variable beside one of the others: two of them would contradict each other. */
export function NotWith(...others: string[]): PropertyDecorator {
  return check(
    'notWith',
    (_value, { object }) => others.every((other) => Reflect.get(object, other) === undefined),
    `$property cannot be set beside ${others.join(' or ')}`,
  );
}

/** Refuses the variable where no other gives it a meaning: alone it would change nothing, and nobody would notice. */
export function OnlyWhere<T>(isMeant: (config: T) => boolean, means: string): PropertyDecorator {
  return check(
    'onlyWhere',
    (_value, { object }) => isMeant(object as T),
    `$property is set and not used: it needs ${means}`,
  );
}

function check(
  name: string,
  validate: (value: unknown, args: ValidationArguments) => boolean,
  message: string,
): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(propertyKey),
      validator: {
        validate: (value: unknown, args?: ValidationArguments) => args !== undefined && validate(value, args),
        defaultMessage: () => message,
      },
    });
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function areCertificates(value: unknown): boolean {
  if (!isText(value)) return false;
  const found = value.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return found.length > 0 && found.every((text) => new X509Certificate(text).subject !== '');
  } catch {
    return false; // Not a certificate.
  }
}

function areDnsServers(value: unknown): boolean {
  if (!Array.isArray(value) || !value.every(isText)) return false;
  try {
    new Resolver().setServers(value);
    return true;
  } catch {
    return false; // Its own check, which knows every form.
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // Absent, or not for this user.
  }
}
