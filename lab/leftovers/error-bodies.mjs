// Jest's setup file of a run that keeps what specs leave: every error answer that a spec reads is one of those.
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const ORIGINAL = Symbol.for('gateway.leftovers.original');
const { Response } = globalThis;

// One prototype serves all spec files of a worker; jsdom has none.
if (Response) {
  const { prototype } = Response;
  prototype[ORIGINAL] ??= { text: prototype.text, json: prototype.json };
  const { text, json } = prototype[ORIGINAL];
  const kept = async (response) => {
    const body = await text.call(response);
    const folder = process.env.GATEWAY_LEFTOVERS;
    if (!folder) return body;
    mkdirSync(join(folder, 'answers'), { recursive: true });
    const line = `${response.status} ${JSON.stringify([...response.headers])} ${body}\n`;
    appendFileSync(join(folder, 'answers', `${process.pid}.txt`), line);
    return body;
  };
  prototype.text = function () {
    return this.status < 400 ? text.call(this) : kept(this);
  };
  prototype.json = function () {
    return this.status < 400 ? json.call(this) : kept(this).then(JSON.parse);
  };
}
