import type { ErrorObject } from 'ajv';
import type { Path } from './entry-fault.js';

/** A fault of form: the place that the sentence names, what it says, and the place whose line is told. */
export interface SchemaFault {
  path: Path;
  words: string;
  at: Path;
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'a map of names and values',
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
};

/** The sentence of one fault that Ajv has found, for who wrote the file. Needs `verbose`. */
export function schemaFault({ instancePath, keyword, params, parentSchema, data }: ErrorObject): SchemaFault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')));
  const given = params as Record<string, unknown>;
  const schema = (parentSchema ?? {}) as Record<string, unknown>;
  if (keyword === 'additionalProperties') {
    const name = String(given.additionalProperty);
    const known = Object.keys(schema.properties ?? {}).join(', ');
    return { path, words: `${name} is unknown; what may stand here is ${known}.`, at: [...path, name] };
  }
  return { path, words: `${wordsOf(keyword, given, schema, data)}.`, at: path };
}

function wordsOf(
  keyword: string,
  given: Record<string, unknown>,
  schema: Record<string, unknown>,
  data: unknown,
): string {
  const shown = typeof data === 'string' && data.length <= 80 ? data : 'this';
  switch (keyword) {
    case 'required':
      return `${String(given.missingProperty)} is missing`;
    case 'type':
      if (given.type === 'string' && typeof data === 'number')
        return 'this has to be a text: put it in quotes';
      return `this has to be ${KINDS[String(given.type)] ?? String(given.type)}`;
    case 'enum':
      return `${shown} is none of ${(given.allowedValues as unknown[]).join(', ')}`;
    case 'pattern':
      // The value may be a secret that stands in the wrong place.
      return `this has to be ${typeof schema.words === 'string' ? schema.words : 'of another form'}`;
    case 'minLength':
      return 'this is empty';
    case 'minItems':
    case 'minProperties':
      return `this needs at least ${String(given.limit)} ${given.limit === 1 ? 'entry' : 'entries'}`;
    case 'maxLength':
      return `this has at most ${String(given.limit)} characters`;
    case 'maxItems':
    case 'maxProperties':
      return `this has at most ${String(given.limit)} entries`;
    case 'minimum':
      return `this is ${String(given.limit)} at least`;
    case 'maximum':
      return `this is ${String(given.limit)} at most`;
    case 'uniqueItems':
      return `entries ${String(given.j)} and ${String(given.i)} are the same`;
    default:
      return 'this is not valid';
  }
}
