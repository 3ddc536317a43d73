import type { FuzzRequest } from './fuzz-request.js';

/** A body that a terminal shows and a shell takes as it is. */
const PLAIN = /^[\x20-\x26\x28-\x7e]*$/;
const SHOWN_MAX = 4_000;

/** The request as a command; credentials are the variables KEY and SESSION of whoever repeats it. */
export function asCurl(url: string, { method, target, headers, body }: FuzzRequest): string {
  const parts = ['curl', '-sS', '-i', '--path-as-is', '-g', '-X', method];
  for (const [name, value] of headers) parts.push('-H', `"${quoted(name, value)}"`);
  parts.push(single(`${url}${target}`));
  if (body === null) return parts.join(' ');
  const text = body.toString('latin1');
  if (text.length <= SHOWN_MAX && PLAIN.test(text)) return `${parts.join(' ')} --data-binary ${single(text)}`;
  return `echo ${body.toString('base64')} | base64 -d | ${parts.join(' ')} --data-binary @-`;
}

function quoted(name: string, value: string): string {
  const shown = value
    .replace(/[\\"`$]/g, '\\$&')
    .replace(/rsk_[0-9A-Za-z]{40,}/, '$$KEY')
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/, '$$SESSION');
  // A header without a value is written with a semicolon.
  return shown === '' ? `${name};` : `${name}: ${shown}`;
}

function single(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
