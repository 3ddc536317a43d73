// A curl for machines without one, with the options that the documents use. An answer that is not 2xx ends it with 22.
import { Buffer } from 'node:buffer';
import { openAsBlob, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const text = { type: 'string', multiple: true, default: [] };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    header: { ...text, short: 'H' },
    form: { ...text, short: 'F' },
    data: { type: 'string', short: 'd' },
    output: { type: 'string', short: 'o' },
  },
});

const form = new globalThis.FormData();
for (const field of values.form) {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(field);
  if (value.startsWith('@')) form.append(name, await openAsBlob(value.slice(1)), value.slice(1));
  else form.append(name, value);
}
const body = values.form.length > 0 ? form : values.data;
const answer = await globalThis.fetch(positionals[0], {
  method: body === undefined ? 'GET' : 'POST',
  headers: values.header.map((line) => line.split(': ')),
  body,
});
const bytes = Buffer.from(await answer.arrayBuffer());
if (values.output === undefined) process.stdout.write(bytes);
else writeFileSync(values.output, bytes);
if (!answer.ok) {
  process.stderr.write(`${positionals[0]} answered ${answer.status}: ${bytes}\n`);
  process.exitCode = 22;
}
