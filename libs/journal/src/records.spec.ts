import fc from 'fast-check';
import { cloudEventJson } from './cloud-event-json.js';
import { usage } from './journal.fixture.js';
import { type OutcomeHead, outcomeJson, parseFrame, parseShipped, recordJson } from './records.js';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(',"settle":', ',"value":', '"}'),
);
const settle = fc.record({
  accountId: text,
  unit: text,
  scopes: fc.array(fc.record({ kind: fc.constant('key' as const), id: text }), { maxLength: 3 }),
  tokens: fc.nat(),
  tokenEstimate: fc.nat(),
  minute: fc.nat(),
  nano: fc.bigInt().map(String),
});
const head: fc.Arbitrary<OutcomeHead> = fc.record({
  // Not in the order in which they are written.
  settle: fc.option(settle),
  isCrash: fc.boolean(),
  traceparent: fc.option(text, { nil: undefined }),
  unit: fc.option(text),
  at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  key: text,
  topic: fc.constantFrom('gateway.usage.v1' as const, 'gateway.rejections.v1' as const),
  seq: fc.integer({ min: 1 }),
});
const stamp = { producer: 'edge-0', epoch: '0mubbs7i8-726d825a316cac02' };

describe('journal records', () => {
  it('are read back as they were written, whole and as the shipper reads them', () => {
    fc.assert(
      fc.property(head, fc.dictionary(text, fc.jsonValue()), (written, data) => {
        const json = Buffer.from(outcomeJson(written, [JSON.stringify(data)], stamp).join(''));
        const frame = parseFrame(json);
        if (frame.kind !== 'outcome') throw new Error('no outcome');
        expect(frame.head).toEqual(JSON.parse(JSON.stringify(written)));
        const { seq, topic, key, at, traceparent } = written;
        expect(parseShipped(json)).toEqual({ seq, topic, key, at, traceparent, value: frame.value });
        expect(JSON.parse(frame.value)).toEqual({ ...JSON.parse(JSON.stringify(data)), ...stamp, seq });
      }),
    );
  });

  it('hold the members of two objects, one of which may be empty', () => {
    const objects = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.jsonValue());
    fc.assert(
      fc.property(head, objects, objects, (written, left, right) => {
        const own = Object.fromEntries(Object.entries(right).map(([name, value]) => [`_${name}`, value]));
        const text = outcomeJson(written, [left, own].map(recordJson), stamp).join('');
        const { value } = parseFrame(Buffer.from(text)) as { value: string };
        expect(JSON.parse(value)).toEqual(
          JSON.parse(JSON.stringify({ ...left, ...own, ...stamp, seq: written.seq })),
        );
      }),
    );
  });

  it('ship as CloudEvents whose data is the journaled text', () => {
    const at = Date.UTC(2026, 10, 1);
    const value = JSON.stringify(usage(1));
    const outcome = { seq: 7, topic: 'gateway.usage.v1' as const, key: 'acct_1', at, value };
    const event = cloudEventJson(outcome, { source: '/edge/edge-0', epoch: stamp.epoch });
    expect(event).toContain(`"data":${value}}`);
    expect(JSON.parse(event)).toEqual({
      specversion: '1.0',
      id: `${stamp.epoch}-7`,
      source: '/edge/edge-0',
      type: 'gateway.usage.v1',
      time: '2026-11-01T00:00:00.000Z',
      datacontenttype: 'application/json',
      data: usage(1),
    });
  });
});

describe('text that no ledger can keep', () => {
  it('becomes U+FFFD in names and values at any depth', () => {
    const record = { 'a\0': ['x\0y', { deep: 'cut \ud83d' }], n: 1, none: null };
    expect(JSON.parse(recordJson(record))).toEqual({
      'a\ufffd': ['x\ufffdy', { deep: 'cut \ufffd' }],
      n: 1,
      none: null,
    });
  });

  it('is the only text that changes', () => {
    const kept = fc.string({ unit: 'grapheme' }).map((some) => some.replaceAll('\0', ''));
    fc.assert(
      fc.property(fc.dictionary(kept, kept), (record) => {
        expect(JSON.parse(recordJson(record))).toEqual({ ...record });
      }),
    );
    expect(recordJson({ path: String.raw`C:\u0000` })).toBe(JSON.stringify({ path: String.raw`C:\u0000` }));
  });

  it('never reaches a record, wherever it came from', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
        ),
        (texts) => {
          const json = recordJson({ texts });
          expect(json).not.toMatch(/\\u(?:0000|d[89a-f])/);
        },
      ),
    );
  });
});
