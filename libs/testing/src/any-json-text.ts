import fc from 'fast-check';

/** Numbers that no double keeps, or that are written otherwise than JavaScript writes them. */
const NUMBERS = [
  '12345678901234567890',
  '1234567890123456789',
  '-9223372036854775808',
  '9007199254740993',
  '-0',
  '0',
  '-0.0',
  '1.0',
  '1.50',
  '1e400',
  '-1E+400',
  '1E5',
  '1e-7',
  '0.1',
  '42',
];
const STRINGS = ['', 'x', 'é', String.raw`\ud800`, String.raw`\"}`, String.raw`\\`, '1.0', 'cost'];
const NAMES = [
  'id',
  'a',
  '10',
  '2',
  '0',
  '007',
  '4294967295',
  'with space',
  String.raw`\u0031`,
  'type',
  'name',
];
const SPACES = ['', '', ' ', '\n  '];

interface AnyJson {
  /** Its text is spaced at random. */
  text: string;
}

/** Arbitrary JSON objects as text: integers of 20 digits, -0, 1.0, 1e400, number-like and repeated names. */
export function anyJsonText(): fc.Arbitrary<AnyJson> {
  const space = fc.constantFrom(...SPACES);
  const leaf = fc.oneof(
    fc.constantFrom(...NUMBERS),
    fc.constantFrom(...STRINGS.map((text) => `"${text}"`)),
    fc.constantFrom('true', 'false', 'null', '{}', '[]'),
  );
  const name = fc.constantFrom(...NAMES);
  const { object } = fc.letrec<{ object: string; list: string; value: string }>((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, leaf, tie('object'), tie('list')),
    object: fc
      .tuple(fc.array(fc.tuple(name, tie('value'), space), { maxLength: 5 }), space)
      .map(
        ([members, end]) =>
          `{${members.map(([key, value, gap]) => `${gap}"${key}"${gap}:${gap}${value}`).join(',')}${end}}`,
      ),
    list: fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
      .map(([items, gap]) => `[${items.join(`${gap},${gap}`)}${gap}]`),
  }));
  return object.map((text) => ({ text }));
}

/** The tokens of a JSON text: numbers as they are written, strings in one spelling, no white space. */
export function tokensOf(text: string): string[] {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g) ?? [];
  return tokens.map((token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token));
}
