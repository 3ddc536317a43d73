import { CHOICE_MEMBERS } from './route-choice-schema.js';
import { END_USER_ID_MAX, ITEMS_MAX, NAME_MAX } from '../stored/stored-content-needed.js';

const MEMBERS = {
  template: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: NAME_MAX,
    description: 'Name or id of a prompt template: its messages stand before those of the request.',
  },
  template_version: {
    type: ['string', 'integer', 'null'],
    description: 'Id or number of a version of the template; absent = the published one.',
  },
  variables: {
    type: ['object', 'null'],
    additionalProperties: true,
    description: "Values of the template's variables, by their names.",
  },
  memory: {
    type: ['object', 'null'],
    required: ['end_user_id'],
    additionalProperties: false,
    description: "Adds the end user's memories to the system prompt.",
    properties: {
      end_user_id: { type: 'string', minLength: 1, maxLength: END_USER_ID_MAX },
      max_items: { type: 'integer', minimum: 1, maximum: ITEMS_MAX, default: ITEMS_MAX },
    },
  },
};

/** The described schema of a text request, with the members that are the gateway's business. */
export function withGatewayMembers(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...schema, properties: { ...(schema.properties as object), ...MEMBERS, ...CHOICE_MEMBERS } };
}
