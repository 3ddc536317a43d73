import { BodyFault, parseBody, type ParsedBody } from './parsed-body.js';
import { spliceMembers } from './write-json.js';

function parsed(text: string): ParsedBody {
  const body = parseBody(Buffer.from(text));
  if (body instanceof BodyFault) throw new Error(body.detail.msg);
  return body;
}

function spliced(text: string, change: (value: Record<string, unknown>) => Record<string, unknown>): string {
  const body = parsed(text);
  return Buffer.concat(spliceMembers(body, change(body.value)).pieces).toString('utf8');
}

describe('a body of which some members are written anew', () => {
  it('keeps the numbers, the order and the repetition of names of what a changed list still holds', () => {
    const item = '{"n":1234567890123456789,"2":1.0,"1":-0,"a":1,"a":2}';
    const sent = spliced(`{"model":"m","list":[${item},{"gone":1}]}`, ({ list }) => ({
      model: 'other',
      list: (list as unknown[]).slice(0, 1),
    }));
    expect(sent).toBe(`{"model":"other","list":[${item}]}`);
  });

  it('looks at nothing where no list or object of the caller is replaced', () => {
    const body = parsed('{"model":"m","list":[1.0]}');
    spliceMembers(body, { model: 'other', stream_options: { include_usage: true } });
    expect(Object.getOwnPropertySymbols(body.value.list)).toEqual([]);
  });
});
