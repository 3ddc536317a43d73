import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Schema } from './class-schemas.js';

/** Untyped as JSON.parse answers it: what it holds is asserted. */
type Document = ReturnType<JSON['parse']>;

const document: Document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

/** Answers that the suite has recorded, by the schema that describes them. */
const RECORDED = { ChatCompletion: 'chat', MessagesAnswer: 'messages', Response: 'responses' };

function recorded(name: string): { name: string; body: Document }[] {
  const path = `libs/dialects/src/text/golden/answered/${name}.golden.jsonl`;
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Document => JSON.parse(line))
    .filter(({ body }) => body !== undefined)
    .map((line) => ({ name: line.case, body: line.body }));
}

function resolved(schema: Document): Schema {
  if (schema.$ref === undefined) return schema as Schema;
  return resolved(document.components.schemas[schema.$ref.replace('#/components/schemas/', '')]);
}

/** Paths of members that the schema describes, `[]` for the elements of a list. */
function written(given: Document, at = ''): string[] {
  const schema: Document = resolved(given);
  const below = Object.entries<Document>(schema.properties ?? {}).flatMap(([name, member]) => [
    `${at}.${name}`,
    ...written(member, `${at}.${name}`),
  ]);
  return [...below, ...(schema.items === undefined ? [] : written(schema.items, `${at}[]`))];
}

/** Paths of members that an answer has. */
function served(value: Document, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => served(one, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    `${at}.${name}`,
    ...served(member, `${at}.${name}`),
  ]);
}

/** Members below these are of many kinds: their own type says which. */
const OPEN =
  /^\.(?:choices\[\]\.(?:logprobs|message\.audio|message\.reasoning_details\[\])|content\[\]\.(?:citations\[\]|input)|output\[\]\.(?:content|summary)\[\]|(?:reasoning|text))\./;

/** Members that a provider has added and that pass through. */
const PASSED_ON = [
  ...[
    'is_byok',
    'service_tier',
    'server_tool_use',
    'trafficType',
    'extra',
    'cache_creation_input_tokens',
  ].map((name) => `.usage.${name}`),
  '.usage.prompt_tokens_details.image_tokens',
  '.usage.completion_tokens_details.image_tokens',
  '.choices[].message.tool_calls[].mark',
  '.choices[].message.tool_calls[].extra_content',
  '.output[].action',
];

const isPassedOn = (path: string): boolean =>
  PASSED_ON.some((passed) => path === passed || path.startsWith(`${passed}.`));

describe('the recorded answers of the suite and docs/openapi.json', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });

  it.each(Object.entries(RECORDED))('agree on every answer of %s', (schema, name) => {
    const isValid = ajv.compile({ $ref: `document#/components/schemas/${schema}` });
    const faults = recorded(name).flatMap((one) =>
      isValid(one.body) ? [] : [`${one.name}: ${ajv.errorsText(isValid.errors)}`],
    );
    expect(faults).toEqual([]);
    expect(recorded(name).length).toBeGreaterThan(3);
  });

  it.each(Object.entries(RECORDED))('have the same members of %s, in both directions', (schema, name) => {
    const given = new Set(recorded(name).flatMap(({ body }) => served(body)));
    const said = new Set(written(document.components.schemas[schema]));
    const neverWritten = [...given].filter(
      (path) => !said.has(path) && !OPEN.test(path) && !isPassedOn(path),
    );
    const neverServed = [...said].filter((path) => !given.has(path));
    expect({ neverWritten, neverServed }).toEqual({ neverWritten: [], neverServed: [] });
  });
});
