const KINDS: Readonly<Record<string, string | string[]>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: ['true', 'false'],
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const COUNTED: Readonly<Record<string, [bound: string, one: string, many: string]>> = {
  minLength: ['at least', 'character', 'characters'],
  maxLength: ['at most', 'character', 'characters'],
  minItems: ['at least', 'item', 'items'],
  maxItems: ['at most', 'item', 'items'],
  minProperties: ['at least', 'member', 'members'],
  maxProperties: ['at most', 'member', 'members'],
};

const BOUNDS: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  exclusiveMinimum: 'more than',
  exclusiveMaximum: 'less than',
};

const FORMS: Readonly<Record<string, string>> = {
  pattern: 'does not have the form that it needs',
  format: 'does not have the form that it needs',
  uniqueItems: 'must not hold the same item twice',
  anyOf: 'has none of the forms that are allowed',
  oneOf: 'has none of the forms that are allowed, or several of them',
};

/** Returns what a rule of a JSON schema asks for, in words that need no schema: `keyword` and `params` as Ajv reports them. */
export function plainWords(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const { type, limit } = params;
  if (keyword === 'type')
    return `must be ${listed([type].flat().flatMap((kind) => KINDS[String(kind)] ?? String(kind)))}`;
  const counted = COUNTED[keyword];
  if (counted !== undefined) {
    const [bound, one, many] = counted;
    return `must have ${bound} ${String(limit)} ${limit === 1 ? one : many}`;
  }
  const bound = BOUNDS[keyword];
  if (bound !== undefined) return `must be ${bound} ${String(limit)}`;
  if (keyword === 'multipleOf') return `must be a multiple of ${String(params.multipleOf)}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  return FORMS[keyword] ?? 'is not valid';
}

/** Ajv joins several types by commas. */
function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words[words.length - 1]}`;
}
