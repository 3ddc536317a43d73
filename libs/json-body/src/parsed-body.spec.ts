import fc from 'fast-check';
import { BodyFault, JSON_BOUNDS, parseBody, type ParsedBody } from './parsed-body.js';
import { spliceMembers } from './write-json.js';

function parsed(text: string): ParsedBody {
  const body = parseBody(Buffer.from(text));
  if (body instanceof BodyFault) throw new Error(body.detail.msg);
  return body;
}

function faultOf(text: string | Buffer): string {
  const body = parseBody(Buffer.from(text));
  return body instanceof BodyFault ? body.detail.type : 'accepted';
}

const asUnicodeEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

function join(pieces: Uint8Array[]): string {
  return Buffer.concat(pieces).toString('utf8');
}

describe('a request body', () => {
  it('equals JSON.parse for any object, and knows where each member stands', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          fc.jsonValue({ maxDepth: 5 }),
        ),
        fc.constantFrom(0, 1, 3),
        (object, indent) => {
          const text = JSON.stringify(object, null, indent);
          fc.pre(!text.includes('__proto__'));
          const body = parsed(text);
          expect(body.value).toEqual(JSON.parse(text));
          for (const member of body.members) {
            expect(JSON.parse(body.bytes.subarray(member.valueStart, member.end).toString())).toEqual(
              (JSON.parse(text) as Record<string, unknown>)[member.key],
            );
          }
        },
      ),
    );
  });

  it('splices like an object spread, whatever is replaced, removed or added', () => {
    const key = fc.constantFrom('model', 'a', 'b', 'ü', 'with "quote"');
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.jsonValue()),
        fc.dictionary(key, fc.option(fc.jsonValue(), { nil: undefined })),
        fc.constantFrom(0, 2),
        (object, changes, indent) => {
          const text = JSON.stringify(object, null, indent);
          fc.pre(!text.includes('__proto__') && !JSON.stringify(changes).includes('__proto__'));
          const { pieces, byteLength } = spliceMembers(parsed(text), changes);
          expect(JSON.parse(join(pieces))).toEqual(JSON.parse(JSON.stringify({ ...object, ...changes })));
          expect(Buffer.byteLength(join(pieces))).toBe(byteLength);
        },
      ),
    );
  });

  it('passes number spellings and unknown members on untouched', () => {
    const body = parsed('{"model": "x", "seed": 12345678901234567890, "t": 1.0, "new": {"a": [1e2]}}');
    expect(join(spliceMembers(body, { model: 'y' }).pieces)).toBe(
      '{"seed": 12345678901234567890, "t": 1.0, "new": {"a": [1e2]},"model":"y"}',
    );
  });

  it('replaces every copy of a duplicated member', () => {
    expect(
      JSON.parse(join(spliceMembers(parsed('{"model":"a","x":1,"model":"b"}'), { model: 'c' }).pieces)),
    ).toEqual({ x: 1, model: 'c' });
  });

  it('U12 accepts bounds at n and refuses n + 1', () => {
    const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(faultOf(nested(JSON_BOUNDS.depth))).toBe('accepted');
    expect(faultOf(nested(JSON_BOUNDS.depth + 1))).toBe('json_too_deep');
    const keys = (count: number): string =>
      `{${Array.from({ length: count }, (_, index) => `"${index}":1`).join(',')}}`;
    expect(faultOf(keys(JSON_BOUNDS.keys))).toBe('accepted');
    expect(faultOf(keys(JSON_BOUNDS.keys + 1))).toBe('json_too_many_keys');
    const items = (count: number): string => `{"a":[${Array.from({ length: count }, () => '1').join(',')}]}`;
    expect(faultOf(items(JSON_BOUNDS.itemsPerArray))).toBe('accepted');
    expect(faultOf(items(JSON_BOUNDS.itemsPerArray + 1))).toBe('json_too_many_items');
  });

  it('refuses what is no JSON object in UTF-8, and never throws', () => {
    expect(faultOf('')).toBe('json_invalid');
    expect(faultOf('[]')).toBe('json_not_object');
    expect(faultOf('"a"')).toBe('json_not_object');
    expect(faultOf('{"a":1')).toBe('json_invalid');
    expect(faultOf('{"a":"x')).toBe('json_invalid');
    expect(faultOf('{"__proto__":{}}')).toBe('json_forbidden_key');
    for (const escaped of ['\\u005f_proto__', '__prot\\u006F__', '__proto__'.replace(/./g, asUnicodeEscape)])
      expect(faultOf(`{"a":{"${escaped}":1}}`)).toBe('json_forbidden_key');
    expect(faultOf('{"\\u005fproto__":1,"__proto\\n__":1}')).toBe('accepted');
    expect(
      faultOf(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])),
    ).toBe('json_invalid');
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => parseBody(bytes) !== null));
    fc.assert(
      fc.property(
        fc.stringMatching(/^[{}[\]",:\\a1 ]{0,40}$/),
        (text) => parseBody(Buffer.from(text)) !== null,
      ),
    );
  });
});
