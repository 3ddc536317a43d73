import type { Schema } from './class-schemas.js';

/** Meaning of a path's parameter, by its name, or by the part of the path before it. */
const NAMED: Readonly<Record<string, string>> = {
  brand: 'Brand of the model: what stands before the slash of its id.',
  name: 'Name of the model: what stands after the slash of its id.',
  slug: 'Slug of the provider.',
  provider: 'Slug of the provider.',
  user_id: 'Id of the person.',
  invitation_id: 'Id of the invitation.',
  view_id: 'Id of the view.',
  version_id: 'Id of the version.',
  end_user_id: 'The end user, as requests name them.',
  item: 'Id of the item.',
  token: 'The token of the address.',
  kind: 'Kind of the object.',
  owner: 'Whose object it is.',
  '{owner}/name': 'Name of the object.',
};
const AFTER: Readonly<Record<string, string>> = {
  keys: 'Id of the key.',
  'admin-keys': 'Id of the admin key.',
  'provider-keys': 'Id of the provider key.',
  credentials: 'Id of the credential.',
  orgs: 'Id of the organization.',
  teams: 'Id of the team.',
  sessions: 'Id of the session.',
  channels: 'Id of the channel.',
  policies: 'Id of the policy.',
  deliveries: 'Id of the delivery.',
  models: 'Id of the model with its slash encoded, or its name where only one brand has it.',
  aliases: 'Id of the alias.',
  budgets: 'Id of the budget.',
  templates: 'Id of the template.',
  'routing-policy-templates': 'Id of the template.',
  events: 'Id of the usage event.',
  requests: 'Id of the request, as X-Request-Id says.',
  responses: 'Id of the response.',
  conversations: 'Id of the conversation.',
};

export function pathParameters(path: string): Schema[] {
  return [...path.matchAll(/(?<=([^/]+)\/)\{([^}]+)\}/g)].map(([, before, name]) => {
    const description = NAMED[`${before}/${name}`] ?? NAMED[name] ?? AFTER[before] ?? spelled(name);
    return { name, in: 'path', required: true, description, schema: { type: 'string' } };
  });
}

/** Described by the doc comments of the class's fields. */
export function queryParameters(query: string | null, all: ReadonlyMap<string, Schema>): Schema[] {
  if (query === null) return [];
  const schema = all.get(query);
  if (schema === undefined) throw new Error(`There is no schema of ${query}.`);
  const required = new Set(schema.required as string[] | undefined);
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  return fields.map(([name, { description = spelled(name), ...member }]) => {
    return { name, in: 'query', required: required.has(name), description, schema: member };
  });
}

/** Returns words for a parameter that nobody has described. */
function spelled(name: string): string {
  const words = name.replaceAll('_', ' ');
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}
