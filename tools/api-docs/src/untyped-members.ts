import type { Schema } from './class-schemas.js';
import { ref } from './operation.js';

const open: Schema = { type: 'object', additionalProperties: true };
const text: Schema = { type: 'string' };
const tokenId: Schema = { type: 'integer', minimum: 0 };
const list = (items: Schema): Schema => ({ type: 'array', items });

/**
 * Content of members that validators check for presence alone: their form is checked later, where the error can say
 * more. By class and member, or by the member alone.
 */
const MEMBERS: Readonly<Record<string, Schema>> = {
  org_id: { type: 'string' },
  credentials: { anyOf: [open, { type: 'string' }] },
  'CreateTemplateVersionBody.messages': list(ref('PromptMessage')),
  'CreateTemplateVersionBody.variables': list(ref('PromptVariable')),
  'CreateTemplateVersionBody.tools': list(open),
  'ConversationBody.items': list(ref('ResponseItem')),
  'ConversationItemsBody.items': list(ref('ResponseItem')),
  'TemplateVersionRecord.tools': { type: ['array', 'null'], items: open },
  'CompareRequest.messages': list(open),
  'RouterSelectRequest.messages': list(open),
  'RouterSelectRequest.tools': list(open),
  'EvaluateRequest.input': { anyOf: [text, list(open)] },
  'EmbeddingsRequest.input': {
    anyOf: [
      { ...text, minLength: 1 },
      list({ ...text, minLength: 1 }),
      list(tokenId),
      list({ ...list(tokenId), minItems: 1 }),
    ],
  },
  'ModerationRequest.input': { anyOf: [text, list(text), list(open)] },
};

/** A class's schema in which every member has a type. */
export function withTypes(name: string, schema: Schema): Schema {
  const members = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  if (members.length === 0) return schema;
  return {
    ...schema,
    properties: Object.fromEntries(
      members.map(([member, given]) => {
        const known = MEMBERS[`${name}.${member}`] ?? MEMBERS[member];
        if (known === undefined || !isOpen(given)) return [member, given];
        const { not: _anything, ...rest } = given;
        return [member, known.anyOf === undefined ? { ...rest, ...known } : known];
      }),
    ),
  };
}

function isOpen({ type, $ref, anyOf, oneOf, items }: Schema): boolean {
  if ([type].flat().includes('array'))
    return items === undefined || Object.keys(items as object).length === 0;
  return [type, $ref, anyOf, oneOf].every((said) => said === undefined);
}
